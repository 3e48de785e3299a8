// Package journal holds the decisions about commits that are being made, the links of the last
// commits to their checkpoints, and the search for the commit that a decision was made for.
// Hooks of git write and read it before and after a commit; every hook may read it to complete
// the work of an interrupted one.
//
// It imports package workspace of strategy only.
package journal

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

// Dir returns the folder of the decisions.
func Dir(w *workspace.Workspace) string { return filepath.Join(w.RecordsDir(), "journal") }

// Record writes the decision.
func Record(w *workspace.Workspace, d *Decision) error {
	if err := disk.MkdirAll(Dir(w), 0o700); err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	// The nonce in the name keeps two decisions about the same id apart, so that writing one
	// needs no lock: no other hook writes or replaces the file.
	d.path = filepath.Join(Dir(w), checkpoint.WorktreeHash(d.Worktree)+"."+cmp.Or(string(d.ID), "keep")+"."+d.Nonce+".json")
	if err := disk.WriteDurable(d.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	return nil
}

// IsRecorded reports whether the journal still holds this decision. Without the lock the
// result may be outdated at once.
func IsRecorded(d Decision) bool {
	now, err := ReadDecision(d.path)
	return err == nil && now.Nonce == d.Nonce
}

// Remove removes a decision that was carried out or dropped. Another decision under the same
// file name, as older versions of the program write them, stays.
func Remove(d Decision) error {
	if !IsRecorded(d) {
		return nil
	}
	if err := disk.Step("remove", d.path); err != nil {
		return err
	}
	if err := os.Remove(d.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget decision: %w", err)
	}
	return nil
}

// Decisions returns the decisions in the journal, oldest first. An entry that can't be read is
// moved aside and logged.
func Decisions(ctx context.Context, w *workspace.Workspace) []Decision {
	entries, err := os.ReadDir(Dir(w))
	if err != nil {
		return nil
	}
	var found []Decision
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(Dir(w), e.Name())
		d, err := ReadDecision(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			w.Log.ErrorContext(ctx, "journal entry set aside", "error", err.Error())
			if disk.Step("rename", path) == nil {
				_ = os.Rename(path, path+".corrupt")
			}
		default:
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b Decision) int { return a.Created.Compare(b.Created) })
	return found
}

// OfWorktree returns this worktree's decisions.
func OfWorktree(ctx context.Context, w *workspace.Workspace) []Decision {
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
