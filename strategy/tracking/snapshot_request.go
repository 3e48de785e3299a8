package tracking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// SnapshotRequest asks for a snapshot of this worktree, which any process may take: a file in
// <store>/requests-<lineage>. The time of the request is the file's own, as the file
// system's clock is not the process's.
//
// Each request is a file of its own, <subject>.<nonce>.json, so that removing one removes no
// other. Of several requests with one subject the newest counts.
type SnapshotRequest struct {
	Cause     bands.Cause     `json:"cause"`
	Pair      string          `json:"checkpoint_id,omitempty"`
	Commit    string          `json:"commit,omitempty"`
	Causality bands.Causality `json:"causality,omitzero"`
	// Message names the snapshot of a subagent's event; empty for any other.
	Message string `json:"message,omitempty"`
	// Late reports whether it was requested some time after the commit.
	Late bool `json:"late,omitempty"`
	// Missed reports whether no snapshot was taken in time.
	Missed bool `json:"missed,omitempty"`

	path  string
	asked time.Time
}

const requestExt = ".json"

// subject returns the subject of the request: its cause, and a session or a checkpoint.
// Requests of earlier versions have no nonce in their names.
func (r SnapshotRequest) subject() string {
	subject := strings.TrimSuffix(filepath.Base(r.path), requestExt)
	if dot := strings.LastIndexByte(subject, '.'); dot >= 0 {
		nonce := subject[dot+1:]
		if len(nonce) == workspace.NonceLen && strings.Trim(nonce, "0123456789abcdef") == "" {
			return subject[:dot]
		}
	}
	return subject
}

// errBadRequest means that a file holds no request.
var errBadRequest = errors.New("not a request")

func readRequest(path string) (SnapshotRequest, error) {
	data, err := disk.ReadFile(path)
	if err != nil {
		return SnapshotRequest{}, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return SnapshotRequest{}, err
	}
	q := SnapshotRequest{}
	if err := json.Unmarshal(data, &q); err != nil {
		return SnapshotRequest{}, errors.Join(errBadRequest, err)
	}
	q.path, q.asked = path, disk.Changed(info)
	return q, nil
}

// removeRequests removes served requests. A newer request with the same subject is another
// file, and stays.
func removeRequests(list []SnapshotRequest) error {
	failed := make([]error, 0, len(list))
	for _, q := range list {
		failed = append(failed, disk.Remove(q.path))
	}
	return errors.Join(failed...)
}

// markMissed marks a request that can no longer be served. It is kept to explain why a
// checkpoint has no snapshot.
func markMissed(q SnapshotRequest) error {
	q.Missed = true
	data, err := json.Marshal(q)
	if err != nil {
		return err
	}
	return disk.WriteCache(q.path, append(data, '\n'), 0o600)
}

// AddRequest writes a request; id distinguishes it from others with the same cause. A request for a
// pair is durable, as a checkpoint depends on it.
func AddRequest(w *workspace.Workspace, q SnapshotRequest, id string) error {
	if err := disk.MkdirAll(w.RequestsDir(), 0o700); err != nil {
		return fmt.Errorf("ask for a snapshot: %w", err)
	}
	nonce, err := w.NewNonce()
	if err != nil {
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
	if err := write(filepath.Join(w.RequestsDir(), string(q.Cause)+"-"+id+"."+nonce+requestExt), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("ask for a snapshot: %w", err)
	}
	return nil
}

// UnservedRequests returns the requests still to be served, oldest first. It removes those that a
// newer one replaces.
func UnservedRequests(ctx context.Context, w *workspace.Workspace) []SnapshotRequest {
	entries, err := os.ReadDir(w.RequestsDir())
	if err != nil {
		return nil
	}
	newest := map[string]SnapshotRequest{}
	var old []SnapshotRequest
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), requestExt) {
			continue
		}
		path := filepath.Join(w.RequestsDir(), e.Name())
		q, err := readRequest(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // served since
			continue
		case errors.Is(err, errBadRequest): // a request's file is never rewritten, so it stays invalid
			w.Log.WarnContext(ctx, "request for a snapshot dropped", "path", path, "error", err.Error())
			_ = disk.Remove(path)
			continue
		case err != nil:
			w.Log.WarnContext(ctx, "request for a snapshot not read", "path", path, "error", err.Error())
			continue
		}
		other, found := newest[q.subject()]
		// Marking a request as missed gives its file a new time.
		if found && (q.Missed && !other.Missed || q.Missed == other.Missed && other.asked.After(q.asked)) {
			q, other = other, q
		}
		newest[q.subject()] = q
		if found {
			old = append(old, other)
		}
	}
	if err := removeRequests(old); err != nil {
		w.Log.WarnContext(ctx, "request for a snapshot not removed", "error", err.Error())
	}
	list := slices.DeleteFunc(slices.Collect(maps.Values(newest)), func(q SnapshotRequest) bool { return q.Missed })
	slices.SortFunc(list, func(a, b SnapshotRequest) int { return cmp.Or(a.asked.Compare(b.asked), cmp.Compare(a.path, b.path)) })
	return list
}

// MissedRequests returns the checkpoints of this worktree's commits for which no snapshot was
// taken in time.
func MissedRequests(w *workspace.Workspace) []string {
	entries, err := os.ReadDir(w.RequestsDir())
	if err != nil {
		return nil
	}
	var ids []string
	for _, e := range entries {
		q, err := readRequest(filepath.Join(w.RequestsDir(), e.Name()))
		if err == nil && q.Missed {
			ids = append(ids, q.Pair)
		}
	}
	return ids
}

// AddPair requests the snapshot to be paired with a commit's checkpoint.
func AddPair(ctx context.Context, w *workspace.Workspace, id checkpoint.ID, commit LinkedCommit) {
	if _, err := SnapshotStore(w); err != nil {
		return
	}
	q := SnapshotRequest{Cause: bands.Commit, Pair: string(id), Commit: string(commit.OID), Late: commit.Late, Causality: bands.Causality{Commit: string(commit.OID)}}
	running := slices.DeleteFunc(w.PendingSessions(ctx), func(s *session.State) bool { return s.Phase != session.Active })
	if len(running) == 1 { // else the turn that made the commit is unknown
		q.Causality = Causality(w, running[0], workspace.Input{})
		q.Causality.Commit = string(commit.OID)
	}
	if err := AddRequest(w, q, string(id)); err != nil {
		w.Log.WarnContext(ctx, "checkpoint has no snapshot", "checkpoint_id", string(id), "error", err.Error())
	}
}

// pair records that a snapshot belongs to a checkpoint.
func pair(w *workspace.Workspace, held *bands.Held, s bands.Snapshot, q SnapshotRequest, late bool) error {
	return held.AddPair(s.Version, bands.Pair{Checkpoint: q.Pair, Commit: q.Commit, Created: w.Env.Now().UTC(), Late: late})
}
