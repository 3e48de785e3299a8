package strategy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// request asks for a snapshot of this worktree, to be taken by whoever comes
// to it: a file in <store>/requests-<lineage>. When it was asked for is the
// file's own time, as the file system's clock is not the process's.
type request struct {
	Cause     bands.Cause     `json:"cause"`
	Pair      string          `json:"checkpoint_id,omitempty"`
	Commit    string          `json:"commit,omitempty"`
	Causality bands.Causality `json:"causality,omitzero"`
	// Message names the snapshot of a subagent's event; empty for any other.
	Message string `json:"message,omitempty"`
	// Late says that it was asked for some time after the commit.
	Late bool `json:"late,omitempty"`
	// Missed says that no snapshot of the moment could be had.
	Missed bool `json:"missed,omitempty"`

	path  string
	asked time.Time
}

func (r *Recorder) requestDir() string {
	return filepath.Join(r.StoreDir(), "requests-"+r.Lineage())
}

// request asks for a snapshot; id tells it from others. One that asks for a
// pair is durable, as a checkpoint waits for it.
func (r *Recorder) request(q request, id string) error {
	if err := os.MkdirAll(r.requestDir(), 0o700); err != nil {
		return fmt.Errorf("ask for a snapshot: %w", err)
	}
	data, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("ask for a snapshot: %w", err)
	}
	write := disk.WriteCache
	if q.Pair != "" {
		write = disk.WriteDurable
	}
	if err := write(filepath.Join(r.requestDir(), string(q.Cause)+"-"+id+".json"), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("ask for a snapshot: %w", err)
	}
	return nil
}

// requests are those that nobody has served, oldest first. A file that can't
// be read is removed.
func (r *Recorder) requests(ctx context.Context) []request {
	entries, err := os.ReadDir(r.requestDir())
	if err != nil {
		return nil
	}
	var list []request
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(r.requestDir(), e.Name())
		q, err := readRequest(path)
		switch {
		case err != nil:
			r.Log.WarnContext(ctx, "request for a snapshot dropped", "path", path, "error", err.Error())
			_ = os.Remove(path)
		case !q.Missed:
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b request) int { return a.asked.Compare(b.asked) })
	return list
}

func readRequest(path string) (request, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return request{}, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return request{}, err
	}
	q := request{}
	if err := json.Unmarshal(data, &q); err != nil {
		return request{}, err
	}
	q.path, q.asked = path, disk.Changed(info)
	return q, nil
}

// served removes requests that are done with.
func served(list []request) error {
	failed := make([]error, 0, len(list))
	for _, q := range list {
		if err := disk.Step("remove", q.path); err != nil {
			return err
		}
		failed = append(failed, os.Remove(q.path))
	}
	return errors.Join(failed...)
}

// miss marks a request that can't be served any more. It stays, as the place
// that tells why a checkpoint has no snapshot.
func miss(q request) error {
	q.Missed = true
	data, err := json.Marshal(q)
	if err != nil {
		return err
	}
	return disk.WriteCache(q.path, append(data, '\n'), 0o600)
}

// leading is the request whose cause the snapshot for all of them gets: a
// commit's before a prompt's before a stop's.
func leading(list []request) request {
	rank := func(q request) int {
		return slices.Index([]bands.Cause{bands.Commit, bands.Prompt, bands.Auto}, q.Cause)
	}
	return slices.MinFunc(list, func(a, b request) int { return cmp.Compare(rank(a), rank(b)) })
}

// message is what the snapshot is called.
func (q request) message() string {
	switch q.Cause {
	case bands.Prompt:
		return "prompt"
	case bands.Commit:
		return "commit " + git.OID(q.Commit).Short()
	case bands.Auto, bands.Named, bands.Rescue:
	}
	return cmp.Or(q.Message, autoMessage)
}
