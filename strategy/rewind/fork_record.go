package rewind

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// schema is the version of the record's format.
const schema = 1

// Fork is the record of a fork: see docs/formats/fork.md.
type Fork struct {
	Schema int `json:"schema"`
	// Dir is the root of the working tree, Branch the branch that was created for it, and Commit
	// the commit at which the branch began.
	Dir    string  `json:"dir"`
	Branch string  `json:"branch"`
	Commit git.OID `json:"commit"`
	// Worktree is git's id of the working tree, empty until git has created it.
	Worktree string `json:"worktree,omitempty"`
	// From is the root of the working tree that it was made from.
	From string `json:"from"`
	// Snapshot is the snapshot of its files, 0 if they are those of a commit or a turn checkpoint.
	Snapshot bands.Version `json:"snapshot,omitempty"`
	// ForkMoment describes the moment that it was made of, as `entire rewind --list` does.
	Moment  string    `json:"moment,omitempty"`
	Session string    `json:"session,omitempty"`
	Turn    string    `json:"turn,omitempty"`
	Date    time.Time `json:"date"` // of the moment
	Created time.Time `json:"created_at"`
	// Maker is the process that is creating it, zero when it is complete.
	Maker session.Process `json:"maker,omitzero"`
	// Removing reports that its removal has begun.
	Removing bool `json:"removing,omitempty"`
}

// Name returns the name of the fork in commands: the name of its folder.
func (f *Fork) Name() string { return filepath.Base(f.Dir) }

// Describe describes the fork for an agent that works in it.
func (f *Fork) Describe() string {
	of := "the commit " + f.Commit.Short()
	if f.Snapshot != 0 {
		of = "the snapshot " + f.Snapshot.String()
	}
	text := fmt.Sprintf("This working tree is a fork of %s, from %s at %s", f.From, of, f.Date.UTC().Format("2006-01-02 15:04 UTC"))
	if f.Moment != "" {
		text += fmt.Sprintf(" (%s)", f.Moment)
	}
	text += ". `entire fork diff` lists what changed since."
	if f.Session != "" {
		text += fmt.Sprintf(" `entire show %.8s` shows the session that led there.", f.Session)
	}
	return text
}

// Unfinished reports whether the process that created the fork exited before it was complete, or
// its removal was not completed.
func (f *Fork) Unfinished(alive func(pid int, start uint64) bool) bool {
	return f.Removing || f.Maker.PID != 0 && !alive(f.Maker.PID, f.Maker.Start)
}

// ErrUnknownFork means that no fork has the name.
var ErrUnknownFork = errors.New("no such fork")

// recordPath returns the path of the record of the fork in a folder.
func recordPath(w *workspace.Workspace, dir string) string {
	return filepath.Join(workspace.ForksDir(w.Repo), disk.Digest([]byte(dir))[:12]+".json")
}

// ForkHere returns the fork of this worktree, or false if the worktree is no fork.
func ForkHere(w *workspace.Workspace) (Fork, bool) {
	if w.Repo.WorktreeID == "" {
		return Fork{}, false
	}
	f, err := read(recordPath(w, w.Repo.Root))
	return f, err == nil && f.Worktree == w.Repo.WorktreeID
}

// ListForks returns all forks of the repository, newest first. It removes records whose working tree git
// no longer lists.
func ListForks(w *workspace.Workspace) (list []Fork, err error) {
	entries, err := os.ReadDir(workspace.ForksDir(w.Repo))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, wt := range git.Worktrees(w.Repo) {
		ids[wt.ID] = true
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" { // a temporary file
			continue
		}
		path := filepath.Join(workspace.ForksDir(w.Repo), e.Name())
		f, err := read(path)
		switch {
		case err != nil:
			return nil, err
		case f.Worktree != "" && !ids[f.Worktree] && f.Maker.PID == 0 && !f.Removing:
			if err := disk.Remove(path); err != nil {
				return nil, err
			}
			continue
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Fork) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Dir, b.Dir)) })
	return list, nil
}

// FindFork returns the fork that a text names: its folder, the folder's name, or its branch. Relative
// paths are relative to at.
func FindFork(w *workspace.Workspace, name, at string) (Fork, error) {
	list, err := ListForks(w)
	if err != nil {
		return Fork{}, err
	}
	path, _ := disk.NewResolver("/", at).Abs(name)
	var found []Fork
	for _, f := range list {
		switch {
		case f.Dir == path:
			return f, nil
		case f.Name() == name || f.Branch == name:
			found = append(found, f)
		}
	}
	switch len(found) {
	case 0:
		return Fork{}, fmt.Errorf("%s: %w", name, ErrUnknownFork)
	case 1:
		return found[0], nil
	}
	return Fork{}, fmt.Errorf("%s is ambiguous: %s and %s", name, found[0].Dir, found[1].Dir)
}

// write replaces the record.
func write(w *workspace.Workspace, f *Fork) error {
	f.Schema = schema
	if err := disk.MkdirAll(workspace.ForksDir(w.Repo), 0o700); err != nil {
		return err
	}
	return disk.WriteJSON(recordPath(w, f.Dir), f)
}

// remove removes the record.
func remove(w *workspace.Workspace, f *Fork) error { return disk.Remove(recordPath(w, f.Dir)) }

func read(path string) (f Fork, err error) {
	data, err := disk.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err == nil && (f.Schema != schema || !filepath.IsAbs(f.Dir)) {
		err = errors.New("unknown format")
	}
	if err != nil {
		return Fork{}, fmt.Errorf("fork %s: %w", path, err)
	}
	return f, nil
}
