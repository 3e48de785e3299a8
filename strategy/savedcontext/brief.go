package savedcontext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// maxShown bounds the size of a file whose present content a brief may show, maxRead the
	// bytes that are read of all files.
	maxShown = 48 << 10
	maxRead  = 256 << 10
	// maxHashed bounds the bytes that are read to compare files.
	maxHashed = 8 << 20
	// small is the size in bytes below which a brief shows a file whole or not at all.
	small = 1500
)

// Recalled is a checkpoint with its present brief.
type Recalled struct {
	Checkpoint recall.Checkpoint
	Brief      brief.Brief
}

// Recall returns the brief of the checkpoint id, which may be abbreviated. If id is empty, it
// is the whole brief that a session starting here now would get, at once or with its first
// prompt, or the notice if it would get only that. It has no parts if the settings exclude
// briefs. The error wraps recall.ErrNotFound if there is no checkpoint.
func Recall(ctx context.Context, w *workspace.Workspace, id string, kind brief.Kind) (Recalled, error) {
	if id != "" {
		whole, err := Contexts(w).Find(ctx, id)
		if err != nil {
			return Recalled{}, err
		}
		return makeBrief(ctx, w, readPast(ctx, w), whole, kind)
	}
	usual, err := newest(ctx, w, workspace.Input{})
	if err != nil {
		return Recalled{}, err
	}
	if id = usual.id; id == "" {
		return Recalled{}, fmt.Errorf("no context checkpoint of this worktree: %w", recall.ErrNotFound)
	}
	if kind == brief.Full && usual.kind == brief.Notice {
		kind = usual.kind
	}
	o := w.Options.Recall
	switch {
	case o.OnStart == settings.Never, o.Inject == settings.InjectOff:
		recalled, err := makeBrief(ctx, w, nil, id, brief.Notice)
		recalled.Brief = brief.Brief{Message: recalled.Brief.Message}
		return recalled, err
	case o.OnStart == settings.Prompt:
		kind = brief.Notice
	}
	return makeBrief(ctx, w, readPast(ctx, w), id, kind)
}

// makeBrief returns the brief of a checkpoint for the present files, in at most two parts: a
// session's start has two hooks.
func makeBrief(ctx context.Context, w *workspace.Workspace, past pastSessions, id string, kind brief.Kind) (Recalled, error) {
	const hooks = 2
	return briefIn(ctx, w, past, id, kind, hooks)
}

// briefIn returns the brief in at most the given number of parts.
func briefIn(ctx context.Context, w *workspace.Workspace, past pastSessions, id string, kind brief.Kind, parts int) (Recalled, error) {
	m, err := material(ctx, w, past, id, kind)
	if err != nil {
		return Recalled{}, err
	}
	m.Parts = parts
	return Recalled{Checkpoint: m.Checkpoint, Brief: brief.Write(m)}, nil
}

// material reads the data for a brief of the checkpoint id. A notice needs no past.
func material(ctx context.Context, w *workspace.Workspace, past pastSessions, id string, kind brief.Kind) (brief.Material, error) {
	store := Contexts(w)
	m := brief.Material{Kind: kind, Now: w.Env.Now()}
	c, err := store.Get(ctx, id)
	if err != nil {
		return m, err
	}
	if kind == brief.Notice {
		m.Checkpoint = c
		return m, nil
	}
	head, _, err := w.Head(ctx)
	if err != nil {
		return m, fmt.Errorf("read HEAD: %w", err)
	}
	m.Commit = string(head.OID)
	if slices.Contains(head.Parents, git.OID(c.State.Context.GitCommit)) || head.Committer.When.After(c.CreatedAt) {
		m.Subject = w.Redact.Text(head.Subject())
	}
	if m.Branch, err = branchShown(ctx, w); err != nil {
		return m, err
	}
	// The commit at the session's start is in its context record, if that still exists.
	known, base := map[string]contextstore.Captured(nil), c.State.Context.GitCommit
	if len(c.Sessions) > 0 {
		record, _, err := remembered(ctx, w, c.Sessions[0])
		if err == nil && record.Worktree == w.Repo.Root && record.Base != "" {
			known, base = record.Files, record.Base
		}
	}
	if c.Cause == recall.Recorded {
		base = strings.Repeat("0", len(base)) // unknown: its checkpoints select the commits
	}
	if m.Present, err = present(ctx, w, c, known); err != nil {
		return m, err
	}
	if kind == brief.Full {
		if err := store.ReadContents(ctx, &c); err != nil {
			return m, err
		}
		if err := addPresent(w, &m, c); err != nil {
			return m, err
		}
		if m.Base, err = baseOf(ctx, w, c, base); err != nil {
			return m, err
		}
	}
	if kind != brief.Drift {
		addCommits(ctx, w, &m, c, base)
	}
	if m.Memory, err = memoryOf(w, past, "", c.State.Context.GitBranch, c.Sessions...); err != nil {
		return m, err
	}
	m.Others = othersSince(ctx, w, c)
	m.Checkpoint = c
	return m, nil
}

// branchShown returns the name of the checked-out branch, redacted.
func branchShown(ctx context.Context, w *workspace.Workspace) (string, error) {
	name, err := git.HeadBranch(ctx, w.Repo)
	return w.Redact.Path(name), err
}

// present returns the present state of the checkpoint's files. Files that there is no time to
// read are left out, and so are those with altered names.
func present(ctx context.Context, w *workspace.Workspace, c recall.Checkpoint, known map[string]contextstore.Captured) (map[string]brief.Present, error) {
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(c.State.Files)), isAltered)
	compare := capturer(w, "", maxHashed)
	compare.Limits.Contents = false
	taken, err := compare.Files(ctx, paths, known)
	if err != nil {
		return nil, fmt.Errorf("read the checkpoint's files: %w", err)
	}
	now := make(map[string]brief.Present, len(paths))
	for _, p := range paths {
		f, ok := taken.Files[p]
		switch {
		case ok && f.Omitted == recall.Gone:
			now[p] = brief.Present{}
		case ok && f.Hash != "":
			now[p] = brief.Present{Exists: true, Hash: f.Hash}
		case !ok && !taken.Unfinished:
			now[p] = brief.Present{}
		}
	}
	return now, nil
}

// isAltered reports whether a stored file name differs from that on disk because a secret or
// invalid UTF-8 in it was replaced.
func isAltered(path string) bool {
	return strings.Contains(path, redact.Mark) || strings.ContainsRune(path, utf8.RuneError)
}

// addPresent adds the present contents of the changed files that the checkpoint has with
// content.
func addPresent(w *workspace.Workspace, m *brief.Material, c recall.Checkpoint) (err error) {
	root, err := os.OpenRoot(w.Repo.Root)
	if err != nil {
		return fmt.Errorf("open worktree: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	left := maxRead
	for _, p := range slices.Sorted(maps.Keys(m.Present)) {
		now, f := m.Present[p], c.State.Files[p]
		if !now.Exists || now.Hash == f.Hash || f.Omitted != "" {
			continue
		}
		text, ok := readText(root, p, min(left, maxShown))
		if !ok {
			continue
		}
		left -= len(text)
		now.Content = w.Redact.Text(text)
		m.Present[p] = now
	}
	return nil
}

// readText returns the content of a text file of at most most bytes; false for any other file.
func readText(root *os.Root, path string, most int) (string, bool) {
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > int64(most) {
		return "", false
	}
	f, err := root.Open(path)
	if err != nil {
		return "", false
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if errors.Join(err, f.Close()) != nil || len(data) > most || !utf8.Valid(data) {
		return "", false
	}
	return string(data), true
}

// baseOf returns the contents of the larger changed files at the session's start.
func baseOf(ctx context.Context, w *workspace.Workspace, c recall.Checkpoint, base string) (map[string]string, error) {
	if base == "" {
		return nil, nil //nolint:nilnil // the branch had no commit
	}
	texts := map[string]string{}
	left := maxRead
	for _, p := range slices.Sorted(maps.Keys(c.State.Files)) {
		f := c.State.Files[p]
		if f.Change != recall.Modified || len(f.Content) < small || len(f.Content) > left {
			continue
		}
		object, err := w.Repo.Read(ctx, base+":"+p)
		if errors.Is(err, git.ErrMissing) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", p, base, err)
		}
		if object.Type != "blob" || len(object.Data) > left || !utf8.Valid(object.Data) {
			continue
		}
		left -= len(object.Data)
		texts[p] = w.Redact.Text(string(object.Data))
	}
	return texts, nil
}

// othersSince finds other sessions that changed files of the checkpoint after
// it.
func othersSince(ctx context.Context, w *workspace.Workspace, c recall.Checkpoint) []brief.Other {
	var others []brief.Other
	for _, t := range candidates(ctx, w) {
		if slices.Contains(c.Sessions, t.id) || t.Worktree != w.Repo.Root || t.Seen.Before(c.CreatedAt) {
			continue
		}
		m, _, err := remembered(ctx, w, t.id)
		if err != nil {
			continue
		}
		other := brief.Other{Session: t.id, At: t.Seen}
		for p, f := range m.Files {
			was, ours := c.State.Files[p] // the time of the checkpoint has whole seconds
			if ours && was.Hash != f.Hash && !f.LastModified.Before(c.CreatedAt) {
				other.Files = append(other.Files, p)
			}
		}
		if len(other.Files) > 0 {
			slices.Sort(other.Files)
			others = append(others, other)
		}
	}
	return others
}

// ErrSection means that a brief has no section of the given name.
var ErrSection = errors.New("unknown section")

// Section is a named section of a brief.
type Section struct {
	Name string `json:"name"`
	// Text is empty if the context has nothing for the section.
	Text string `json:"text"`
	// Tokens is brief.CountTokens of the text.
	Tokens int `json:"tokens"`
}

// CheckSections returns an error that wraps ErrSection and lists the sections if one of
// the names is unknown.
func CheckSections(names []string) error {
	for _, name := range names {
		if !slices.Contains(brief.SectionNames(), name) {
			return fmt.Errorf("%w %.40q; the sections are: %s", ErrSection, name, strings.Join(brief.SectionNames(), ", "))
		}
	}
	return nil
}

// Sections returns the named sections of the checkpoint id, in at most limit tokens together:
// each may use its share of the tokens that the ones before it left. Their texts describe the
// files as they are now.
func Sections(ctx context.Context, w *workspace.Workspace, id string, names []string, limit int) ([]Section, error) {
	if err := CheckSections(names); err != nil {
		return nil, err
	}
	m, err := material(ctx, w, readPast(ctx, w), id, brief.Full)
	if err != nil {
		return nil, err
	}
	list := make([]Section, 0, len(names))
	for i, name := range names {
		text, err := brief.Section(m, name, limit/(len(names)-i))
		if err != nil {
			return nil, err
		}
		s := Section{Name: name, Text: text, Tokens: brief.CountTokens(text)}
		limit -= s.Tokens
		list = append(list, s)
	}
	return list, nil
}
