package authorship

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// madeEntry is a line of the file "made": an id that was given to a commit in this repository. It
// outlives the decision and the links, so that a lost checkpoint can be distinguished from one that
// was made in another clone, and be written again.
type madeEntry struct {
	ID checkpoint.ID `json:"id"`
	// Shares are the decision's shares, without files if there are many.
	Shares []tracking.Share `json:"shares,omitempty"`
}

const (
	// madeLimit is the size above which the file is renamed to "made.old", replacing an older one.
	madeLimit = 1 << 20
	// madeFiles is the maximum number of files that an entry names.
	madeFiles = 100
)

func madePath(w *workspace.Workspace) string { return filepath.Join(w.RecordsDir(), "made") }

// RecordMade appends the decision's id to the ids that were made here. It uses a single write without
// a sync: a power failure may lose the last lines.
func RecordMade(w *workspace.Workspace, d tracking.Decision) error {
	entry := madeEntry{ID: d.ID, Shares: d.Shares}
	files := 0
	for _, share := range d.Shares {
		files += len(share.Files)
	}
	if files > madeFiles {
		entry.Shares = nil
		for _, share := range d.Shares {
			entry.Shares = append(entry.Shares, tracking.Share{Session: share.Session})
		}
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("note id: %w", err)
	}
	path := madePath(w)
	if info, err := os.Lstat(path); err == nil && info.Size() > madeLimit {
		if err := disk.Rename(path, path+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("note id: %w", err)
		}
	}
	if err := disk.Step("append", path); err != nil {
		return fmt.Errorf("note id: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("note id: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// MadeHere returns the ids that were given to commits in this repository, with the share of each
// session as it was decided last. Lines that can't be read are skipped.
func MadeHere(w *workspace.Workspace) (map[checkpoint.ID][]tracking.Share, error) {
	made := map[checkpoint.ID][]tracking.Share{}
	for _, path := range []string{madePath(w) + ".old", madePath(w)} {
		data, err := disk.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			var entry madeEntry
			if json.Unmarshal(line, &entry) != nil {
				continue
			}
			if id, err := checkpoint.ParseID(string(entry.ID)); err == nil {
				made[id] = mergeShares(made[id], entry.Shares)
			}
		}
	}
	return made, nil
}

// mergeShares adds the later shares in a commit to the earlier ones, as for an
// amended commit.
func mergeShares(earlier, later []tracking.Share) []tracking.Share {
	merged := earlier
	for _, share := range later {
		at := -1
		for i := range merged {
			if merged[i].Session == share.Session {
				at = i
			}
		}
		if at < 0 {
			merged = append(merged, share)
		} else {
			merged[at].Files = append(merged[at].Files, share.Files...)
		}
	}
	return merged
}
