package tracking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// StaleAfter is the age above which a decision whose commit was never made is dropped.
const StaleAfter = 24 * time.Hour

// JournalDir returns the folder of the decisions.
func JournalDir(w *workspace.Workspace) string { return workspace.JournalDir(w.Repo) }

// RecordDecision writes the decision.
func RecordDecision(w *workspace.Workspace, d *Decision) error {
	if err := disk.MkdirAll(JournalDir(w), 0o700); err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	// The nonce in the name keeps two decisions about the same id apart, so that writing one
	// needs no lock: no other hook writes or replaces the file.
	d.path = filepath.Join(JournalDir(w), checkpoint.WorktreeHash(d.Worktree)+"."+cmp.Or(string(d.ID), "keep")+"."+d.Nonce+".json")
	if err := disk.WriteJSON(d.path, d); err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	return nil
}

// IsDecisionRecorded reports whether the journal still holds this decision. Without the lock the
// result may be outdated at once.
func IsDecisionRecorded(d Decision) bool {
	now, err := ReadDecision(d.path)
	return err == nil && now.Nonce == d.Nonce
}

// RemoveDecision removes a decision that was carried out or dropped. Another decision under the same
// file name, as older versions of the program write them, stays.
func RemoveDecision(d Decision) error {
	if !IsDecisionRecorded(d) {
		return nil
	}
	if err := disk.Remove(d.path); err != nil {
		return fmt.Errorf("forget decision: %w", err)
	}
	return nil
}

// Decisions returns the decisions in the journal, oldest first. An entry that can't be read is
// moved aside and logged.
func Decisions(ctx context.Context, w *workspace.Workspace) []Decision {
	entries, err := os.ReadDir(JournalDir(w))
	if err != nil {
		return nil
	}
	var found []Decision
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(JournalDir(w), e.Name())
		d, err := ReadDecision(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			w.Log.ErrorContext(ctx, "journal entry set aside", "error", err.Error())
			_ = disk.Rename(path, path+".corrupt")
		default:
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b Decision) int { return a.Created.Compare(b.Created) })
	return found
}

// WorktreeDecisions returns this worktree's decisions.
func WorktreeDecisions(ctx context.Context, w *workspace.Workspace) []Decision {
	return slices.DeleteFunc(Decisions(ctx, w), func(d Decision) bool { return d.Worktree != w.Repo.WorktreeID })
}

// ReadDecision reads a decision from a file of the journal.
func ReadDecision(path string) (Decision, error) {
	data, err := disk.ReadFile(path)
	if err != nil {
		return Decision{}, err
	}
	var d Decision
	if err := json.Unmarshal(data, &d); err != nil {
		return Decision{}, fmt.Errorf("decode %s: %w", path, err)
	}
	for _, id := range append(slices.Clone(d.Keep), d.ID) {
		if _, err := checkpoint.ParseID(string(id)); err != nil && id != "" {
			return Decision{}, fmt.Errorf("decode %s: %w", path, err)
		}
	}
	d.path = path
	return d, nil
}
