package checkpoint

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Slot is the content of a session's slot in a checkpoint, all of it redacted.
type Slot struct {
	Meta       SessionMeta
	Transcript StoredTranscript
	Prompts    []string // of the whole transcript
	// Written is the result of WritePrompts for Prompts, if it was called.
	Written WrittenPrompts
}

// WrittenPrompts are prompts whose files have been written to the repository.
type WrittenPrompts struct{ entries []git.TreeEntry }

// SummaryInfo holds the values of a checkpoint's summary that its sessions don't have. Empty values
// leave those of an existing summary unchanged.
type SummaryInfo struct {
	Branch     string // empty on a detached HEAD
	CLIVersion string
	Strategy   string
}

// Put writes the session's slot into a checkpoint and returns its new directory. An existing slot of the
// session is replaced with all its files; otherwise a new one is added. The summary is rebuilt from all
// sessions.
//
// Metadata added by other versions is kept, as are the slot's summary and attribution unless slot
// has its own. Repeating a Put returns the same directory, and so does a Put of a session or checkpoint
// that is listed as forgotten. Only objects are written.
func Put(ctx context.Context, repo *git.Repo, at Present, id ID, slot Slot, info SummaryInfo) (dir git.OID, err error) {
	defer func() {
		if err != nil {
			dir, err = "", fmt.Errorf("write checkpoint %s: %w", id, err)
		}
	}()
	if _, err := ParseID(string(id)); err != nil {
		return "", err
	}
	if err := session.CheckID(slot.Meta.SessionID); err != nil {
		return "", err
	}
	if forgotten, err := at.IsForgotten(ctx, SessionIn{ID: id, Session: slot.Meta.SessionID}); err != nil || forgotten {
		return at.Dir, err
	}
	d, err := at.directory(ctx, repo)
	if err != nil {
		return "", err
	}
	d.summary.Forgotten = false // another session is added to it
	slot.Meta.CheckpointID = id
	old := slotDir{index: d.nextIndex()}
	if i := d.find(slot.Meta.SessionID); i >= 0 {
		old = d.slots[i]
	}
	meta := slot.Meta.over(old.meta)
	data, err := meta.encode()
	if err != nil {
		return "", err
	}
	files := []file{{metadataFile, data}}
	if len(slot.Written.entries) == 0 {
		files = append(files, promptFiles(slot.Prompts)...)
	}
	if slot.Transcript.Hash != "" {
		files = append(files, file{HashFile, []byte(slot.Transcript.Hash)})
	}
	entries, err := writeFiles(repo, files)
	if err != nil {
		return "", err
	}
	transcript, err := slot.Transcript.Entries()
	if err != nil {
		return "", err
	}
	entries = slices.Concat(entries, slot.Written.entries, transcript)
	oid, err := git.WriteTree(repo, entries)
	if err != nil {
		return "", err
	}
	d.put(slotDir{index: old.index, oid: oid, entries: entries, meta: meta})
	d.summarize(id, at.root(id), info)
	return writeDirectory(repo, d)
}

// promptFiles returns the files of a slot that contain prompts.
func promptFiles(prompts []string) []file {
	if len(prompts) == 0 {
		return nil
	}
	return []file{{promptFile, []byte(joinPrompts(prompts))}, {contextFile, []byte(committedContext(prompts))}}
}

// WritePrompts writes the files of a slot that contain prompts, so that a caller can do this while
// it waits for other work.
func WritePrompts(repo *git.Repo, prompts []string) (WrittenPrompts, error) {
	entries, err := writeFiles(repo, promptFiles(prompts))
	return WrittenPrompts{entries: entries}, err
}

// over returns m with its missing values taken from an older version of it.
func (m SessionMeta) over(old SessionMeta) SessionMeta {
	m.unknown = m.unknown.over(old.unknown)
	if m.Summary == nil && old.Summary != nil {
		m.Summary, m.RedactionRules = old.Summary, min(m.RedactionRules, old.RedactionRules)
	}
	if m.Attribution == nil {
		m.Attribution = old.Attribution
	}
	return m
}

// directory reads the checkpoint's directory; it is empty if there is none.
func (p Present) directory(ctx context.Context, repo *git.Repo) (directory, error) {
	if p.Dir == "" {
		return directory{}, nil
	}
	return directoryAt(ctx, repo, p.Dir)
}

// Read reads the checkpoint. It is empty if it doesn't exist.
func (p Present) Read(ctx context.Context, repo *git.Repo, id ID) (Checkpoint, error) {
	d, err := p.directory(ctx, repo)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read checkpoint %s: %w", id, err)
	}
	return d.checkpoint(id), nil
}

// root returns the path of the checkpoint's directory in the tree that has it.
func (p Present) root(id ID) string {
	if p.InRef {
		return "/"
	}
	return "/" + id.Dir() + "/"
}

// summarize rebuilds the summary from the slots. root is the path of the directory.
func (d *directory) summarize(id ID, root string, info SummaryInfo) {
	s := &d.summary
	s.CheckpointID = id
	for to, value := range map[*string]string{&s.Branch: info.Branch, &s.CLIVersion: info.CLIVersion, &s.Strategy: info.Strategy} {
		if value != "" {
			*to = value
		}
	}
	s.CheckpointsCount, s.FilesTouched, s.Sessions, s.TokenUsage = 0, nil, nil, nil
	for _, slot := range d.slots {
		s.CheckpointsCount += slot.meta.CheckpointsCount
		s.FilesTouched = append(s.FilesTouched, slot.meta.FilesTouched...)
		s.Sessions = append(s.Sessions, slot.paths(root))
		if used := slot.meta.TokenUsage; used != nil {
			sum := used.Plus(Tokens{})
			if s.TokenUsage != nil {
				sum = s.TokenUsage.Plus(sum)
			}
			s.TokenUsage = &sum
		}
	}
	slices.Sort(s.FilesTouched)
	s.FilesTouched = slices.Compact(s.FilesTouched)
}

// writeDirectory writes the checkpoint's directory: its summary, its slots, and the entries that
// are neither.
func writeDirectory(repo *git.Repo, d directory) (git.OID, error) {
	data, err := d.summary.encode()
	if err != nil {
		return "", err
	}
	entries, err := writeFiles(repo, []file{{metadataFile, data}})
	if err != nil {
		return "", err
	}
	for _, slot := range d.slots {
		entries = append(entries, git.TreeEntry{Mode: git.ModeTree, Name: slot.name(), OID: slot.oid})
	}
	for _, e := range d.entries {
		if _, replaced := findEntry(entries, e.Name); !replaced {
			entries = append(entries, e)
		}
	}
	return git.WriteTree(repo, entries)
}
