package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint/segments"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
)

// Checkpoint is a committed checkpoint as it was read. Ids in it are well
// formed or empty, and transcript paths stay below the home directory or are
// empty; names, branches and paths of files are whatever the writer wrote.
type Checkpoint struct {
	ID       ID
	Summary  Summary
	Sessions []Stored // who wrote most of the commit first, see Main
	// Tasks is the tree of its subagents' task checkpoints, by tool use; empty if it has
	// none.
	Tasks git.OID
	// Absent reports that Summary is not in this repository: see ReadAvailable.
	Absent bool
}

// Stored is a session in a checkpoint.
type Stored struct {
	Index int
	Meta  SessionMeta
	// Dir is the tree that holds the session's files.
	Dir git.OID
	// Absent reports that its metadata is not in this repository: see ReadAvailable.
	Absent bool
}

// Read reads the checkpoint id from v1Tree, the tree of the metadata branch:
// ErrNotFound if it isn't there. It takes what any version wrote, and reads no
// transcript.
func Read(ctx context.Context, repo *git.Repo, v1Tree git.OID, id ID) (Checkpoint, error) {
	if _, err := ParseID(string(id)); err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint: %w", err)
	}
	d, err := readDirectory(ctx, repo, v1Tree, id)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint %s: %w", id, err)
	}
	return d.checkpoint(id), nil
}

// ReadAvailable is Read for showing a checkpoint of which objects may be missing, as
// in a partial clone: metadata that is not in this repository is left out, and marked
// as absent. What it returns must not be written back.
func ReadAvailable(ctx context.Context, repo *git.Repo, v1Tree git.OID, id ID) (Checkpoint, error) {
	entry, found, err := gittree.Lookup(ctx, repo, v1Tree, id.Dir())
	if err == nil && (!found || entry.Mode != git.ModeTree) {
		err = ErrNotFound
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint %s: %w", id, err)
	}
	missing := func(err error) bool { return errors.Is(err, git.ErrMissing) }
	d, err := directoryUnless(ctx, repo, entry.OID, missing)
	if err == nil && d.absent && len(d.slots) == 0 {
		err = git.ErrMissing
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint %s: %w", id, err)
	}
	return d.checkpoint(id), nil
}

func (d *directory) checkpoint(id ID) Checkpoint {
	c := Checkpoint{ID: id, Summary: d.summary, Absent: d.absent}
	c.Summary.CheckpointID = id
	if tasks, found := findEntry(d.entries, TasksDir); found && tasks.Mode == git.ModeTree {
		c.Tasks = tasks.OID
	}
	for _, slot := range d.slots {
		c.Sessions = append(c.Sessions, Stored{Index: slot.index, Meta: slot.meta.checked(), Dir: slot.oid, Absent: slot.absent})
	}
	if len(c.Sessions) < 2 {
		return c
	}
	// The session is first that wrote most of the commit, of equals the one that was added later.
	lines := make(map[int]int, len(c.Sessions))
	for _, s := range c.Sessions {
		lines[s.Index] = s.Meta.Lines()
	}
	slices.SortFunc(c.Sessions, func(a, b Stored) int {
		return cmp.Or(cmp.Compare(lines[b.Index], lines[a.Index]), b.Meta.CreatedAt.Compare(a.Meta.CreatedAt), cmp.Compare(b.Index, a.Index))
	})
	return c
}

// Prompts reads the session's prompts; none if it has none.
func (s Stored) Prompts(ctx context.Context, repo *git.Repo) ([]string, error) {
	entries, err := repo.Tree(ctx, s.Dir)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	data, err := readEntry(ctx, repo, entries, promptFile)
	return splitPrompts(string(data)), err
}

// Transcript reads the session's transcript; false if it has none.
func (s Stored) Transcript(ctx context.Context, repo *git.Repo) (segments.Transcript, bool, error) {
	return segments.TranscriptIn(ctx, repo, s.Dir)
}

// Tree returns the tree of the metadata branch for reading: the local branch's,
// or the one that was fetched from origin if there is no local one. ErrNotFound
// if there is neither.
func Tree(ctx context.Context, repo *git.Repo) (git.OID, error) {
	tip, _, err := findTip(ctx, repo)
	return tip.Tree, err
}

// findTip returns the commit that the branch ends with, or that it would
// continue from, and whether it is the local branch's.
func findTip(ctx context.Context, repo *git.Repo) (tip git.Commit, local bool, err error) {
	for _, ref := range []string{MetadataBranch, remoteBranch} {
		tip, err = repo.Commit(ctx, ref)
		if err == nil {
			return tip, ref == MetadataBranch, nil
		}
		if !errors.Is(err, git.ErrMissing) {
			return git.Commit{}, false, fmt.Errorf("read %s: %w", ref, err)
		}
	}
	return git.Commit{}, false, fmt.Errorf("read %s: %w", MetadataBranch, ErrNotFound)
}

// Main returns the session that a reader who shows only one of them shows; false
// if there is none.
func (c Checkpoint) Main() (Stored, bool) {
	if len(c.Sessions) == 0 {
		return Stored{}, false
	}
	return c.Sessions[0], true
}

// Lines is how many of the commit's lines the session wrote, as its metadata
// says. Other versions count for each session only its own lines, and have no
// other figure.
func (m SessionMeta) Lines() int {
	var a struct {
		Session *int `json:"session_lines"`
		Agent   int  `json:"agent_lines"`
	}
	if len(m.Attribution) == 0 || json.Unmarshal(m.Attribution, &a) != nil {
		return 0
	}
	if a.Session != nil {
		return *a.Session
	}
	return a.Agent
}
