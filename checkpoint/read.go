package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Checkpoint is a committed checkpoint. Its ids are well formed or empty, and transcript paths are
// below the home directory or empty. Names, branches and paths of files are unchecked.
type Checkpoint struct {
	ID       ID
	Summary  Summary
	Sessions []Stored // the main session first, see Main
	// Tasks is the tree of its subagents' task checkpoints, by tool use; empty if there are none.
	Tasks git.OID
	// Absent reports that Summary is not in this repository: see Records.Read.
	Absent bool
}

// Stored is a session in a checkpoint.
type Stored struct {
	Index int
	Meta  SessionMeta
	// Dir is the tree with the session's files.
	Dir git.OID
	// Absent reports that its metadata is not in this repository: see Records.Read.
	Absent bool
}

func readAvailable(ctx context.Context, from source, at Located) (Checkpoint, error) {
	missing := func(err error) bool { return errors.Is(err, git.ErrMissing) }
	d, err := directoryUnless(ctx, from, at.Dir, missing)
	if err == nil && d.absent && len(d.slots) == 0 {
		err = git.ErrMissing
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint %s: %w", at.ID, err)
	}
	return d.checkpoint(at.ID), nil
}

// ReadAll calls yield in order for each of the checkpoints, as read by Read, or with the error. It
// returns the first error of yield. For hundreds of checkpoints it takes a fraction of the time of as
// many calls of Read.
func (r Records) ReadAll(ctx context.Context, ids []ID, yield func(ID, Checkpoint, error) error) error {
	const together = 500 // the metadata of all checkpoints would not fit into memory
	var refs []OwnRef    // listed once
	if len(ids) > few {
		var err error
		if refs, err = RefsOf(ctx, r.repo); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(ids, together) {
		found, failed, err := r.locateAll(ctx, part, refs)
		if err != nil {
			return err
		}
		from := source{repo: r.repo}
		if len(part) > few {
			there := slices.DeleteFunc(slices.Clone(found), func(c Located) bool { return c.Dir == "" })
			if ahead, err := prefetch(ctx, r.repo, there, nil); err == nil { // else each is read by itself
				from = ahead
			}
		}
		for i, at := range found {
			var c Checkpoint
			if failed[i] == nil {
				c, failed[i] = readAvailable(ctx, from, at)
			}
			if err := yield(part[i], c, failed[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// few is the number of checkpoints that are read as fast one by one as together.
const few = 50

// locateAll is Locate for several checkpoints. refs are the refs of checkpoints if these are many.
func (r Records) locateAll(ctx context.Context, ids []ID, refs []OwnRef) (found []Located, failed []error, err error) {
	found, failed = make([]Located, len(ids)), make([]error, len(ids))
	inRefs := map[ID]Located{}
	if len(refs) > 0 {
		wanted := make(map[ID]bool, len(ids))
		for _, id := range ids {
			wanted[id] = id.IsULID() // the others may be on the branch
		}
		list, err := peel(ctx, r.repo, slices.DeleteFunc(slices.Clone(refs), func(ref OwnRef) bool { return !wanted[ref.ID] }))
		if err != nil {
			return nil, nil, err
		}
		for _, c := range list {
			inRefs[c.ID] = c
		}
	}
	for i, id := range ids {
		if c, known := inRefs[id]; known {
			found[i] = c
			continue
		}
		found[i], failed[i] = r.Locate(ctx, id)
	}
	return found, failed, nil
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
	// Put the session that wrote most of the commit first, and of equals the one added later.
	lines := make(map[int]int, len(c.Sessions))
	for _, s := range c.Sessions {
		lines[s.Index] = s.Meta.Lines()
	}
	slices.SortFunc(c.Sessions, func(a, b Stored) int {
		return cmp.Or(cmp.Compare(lines[b.Index], lines[a.Index]), b.Meta.CreatedAt.Compare(a.Meta.CreatedAt), cmp.Compare(b.Index, a.Index))
	})
	return c
}

// Prompts returns the session's prompts, which may be none.
func (s Stored) Prompts(ctx context.Context, repo *git.Repo) ([]string, error) {
	entries, err := repo.Tree(ctx, s.Dir)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	data, err := readEntry(ctx, repo, entries, promptFile)
	return splitPrompts(string(data)), err
}

// Transcript returns the session's transcript, false if it has none.
func (s Stored) Transcript(ctx context.Context, repo *git.Repo) (StoredTranscript, bool, error) {
	return TranscriptIn(ctx, repo, s.Dir)
}

// Tree returns the tree of the metadata branch for reading: the local branch's, or that of the
// branch fetched from origin if there is no local one. It returns ErrNotFound if there is neither.
func Tree(ctx context.Context, repo *git.Repo) (git.OID, error) {
	tip, _, err := findTip(ctx, repo)
	return tip.Tree, err
}

// findTip returns the tip of the branch, or the commit from which it would continue, and whether it
// is the local branch's.
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

// Main returns the session to show if only one is shown, false if there is none.
func (c Checkpoint) Main() (Stored, bool) {
	if len(c.Sessions) == 0 {
		return Stored{}, false
	}
	return c.Sessions[0], true
}

// Lines returns the number of the commit's lines that the session wrote, as recorded in its
// metadata. Other versions record only agent_lines, counted for each session separately.
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
