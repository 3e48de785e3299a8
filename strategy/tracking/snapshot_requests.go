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

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// RequestsDir returns the folder of this worktree's requests.
func RequestsDir(w *workspace.Workspace) string {
	return filepath.Join(StoreDir(w), "requests-"+Lineage(w))
}

// AddRequest writes a request; id distinguishes it from others with the same cause. A request for a
// pair is durable, as a checkpoint depends on it.
func AddRequest(w *workspace.Workspace, q SnapshotRequest, id string) error {
	if err := disk.MkdirAll(RequestsDir(w), 0o700); err != nil {
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
	if err := write(filepath.Join(RequestsDir(w), string(q.Cause)+"-"+id+"."+nonce+requestExt), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("ask for a snapshot: %w", err)
	}
	return nil
}

// UnservedRequests returns the requests still to be served, oldest first. It removes those that a
// newer one replaces.
func UnservedRequests(ctx context.Context, w *workspace.Workspace) []SnapshotRequest {
	entries, err := os.ReadDir(RequestsDir(w))
	if err != nil {
		return nil
	}
	newest := map[string]SnapshotRequest{}
	var old []SnapshotRequest
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), requestExt) {
			continue
		}
		path := filepath.Join(RequestsDir(w), e.Name())
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
	entries, err := os.ReadDir(RequestsDir(w))
	if err != nil {
		return nil
	}
	var ids []string
	for _, e := range entries {
		q, err := readRequest(filepath.Join(RequestsDir(w), e.Name()))
		if err == nil && q.Missed {
			ids = append(ids, q.Pair)
		}
	}
	return ids
}
