package tracking

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
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
