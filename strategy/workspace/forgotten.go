package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// ErrForgotten means that the user had the session forgotten: its events aren't recorded, even
// if it continues.
var ErrForgotten = errors.New("the session was forgotten")

// HasTombstone reports whether the session was forgotten in this repository, by
// this clone or by one whose checkpoints were merged.
func (w *Workspace) HasTombstone(session string) (bool, error) {
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	return t.HasSession(session), err
}

// TombstonedFiles returns a predicate for the paths of files that were forgotten in
// this repository. It matches none if the list can't be read: see Check.
func (w *Workspace) TombstonedFiles() func(path string) bool {
	t, _ := checkpoint.LoadTombstones(w.Repo.CommonDir)
	paths := t.FilePaths()
	return func(path string) bool { return slices.Contains(paths, path) }
}

// CheckTombstones returns an error if the list of forgotten sessions and files can't be read. Recording
// without the list could restore forgotten data, so the caller leaves its work for later.
func (w *Workspace) CheckTombstones() error {
	_, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	return err
}

// MaskForgotten makes w.Redact mask the texts and files forgotten in the repository by now. If
// the list can't be read, w.Redact keeps its old masks, and they count as changed: see
// [Tombstones.Check].
func (w *Workspace) MaskForgotten() error {
	list, err := os.Lstat(checkpoint.TombstonesPath(w.Repo.CommonDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.redactions++
		return err
	}
	// The list is only ever replaced by a new file; it may be missing.
	old := w.masked
	if old == nil && list == nil || old != nil && list != nil &&
		os.SameFile(old, list) && old.Size() == list.Size() && old.ModTime().Equal(list.ModTime()) {
		return nil
	}
	w.redactions++
	w.masked = list
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	if err != nil {
		return err
	}
	inner := w.Redact
	if f, masks := inner.(ForgottenRedactor); masks {
		inner = f.Redactor
	}
	w.Redact = inner
	if masker := t.Masker(func() []string { return git.WorktreeRoots(w.Repo) }); masker != nil {
		w.Redact = ForgottenRedactor{Redactor: inner, Forgotten: masker}
	}
	return nil
}

// LearnTombstones adds the entries that v1Tree, a tree of the metadata branch, lists as forgotten to
// this repository's own list, and reports whether there were any. If that adds files or texts,
// they are masked in the records of sessions, whose transcripts are stored again with their next
// event, and in everything the workspace records from then on. The caller holds the lock.
//
// The own list is written last, so that the next run repeats a run that was killed. It records that
// the refs here are still to be searched.
func (w *Workspace) LearnTombstones(ctx context.Context, v1Tree git.OID) (bool, error) {
	unknown, err := w.unknown(ctx, v1Tree)
	if err != nil || unknown.Empty() {
		return false, err
	}
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	if err != nil {
		return false, err
	}
	t.Forgotten, t.Unswept, t.Verified = t.With(unknown), true, ""
	if len(unknown.Paths) > 0 {
		err = w.maskSessions(transcript.NewQuotedFiles(unknown.Paths, git.WorktreeRoots(w.Repo), nil))
	}
	if texts := forgotten.New(unknown.Marks); err == nil && texts != nil {
		err = w.maskSessions(texts)
	}
	if err != nil {
		return false, fmt.Errorf("mask forgotten content: %w", err)
	}
	if err := t.Save(w.Repo.CommonDir); err != nil {
		return false, err
	}
	return true, w.MaskForgotten()
}

// LearnTombstonesHere is Learn of the local metadata branch. It takes the lock, unless there is nothing
// to learn.
func (w *Workspace) LearnTombstonesHere(ctx context.Context) error {
	tree, err := checkpoint.Tree(ctx, w.Repo)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if unknown, err := w.unknown(ctx, tree); err != nil || unknown.Empty() {
		return err
	}
	return w.WithLock(ctx, func() error {
		_, err := w.LearnTombstones(ctx, tree)
		return err
	})
}

// LacksTombstones reports whether a commit of the metadata branch lists entries that this repository's own
// list lacks, or has a list that a partial clone has never read. A clone without its tree can't tell.
func (w *Workspace) LacksTombstones(ctx context.Context, v1 git.OID) (bool, error) {
	c, err := w.Repo.Commit(ctx, string(v1))
	if err != nil {
		return false, err
	}
	unknown, err := w.unknown(ctx, c.Tree)
	if errors.Is(err, git.ErrMissing) {
		_, err = w.Repo.Tree(ctx, c.Tree)
		return err == nil, ctx.Err()
	}
	return !unknown.Empty(), err
}

// unknown returns the entries that v1Tree lists as forgotten; none if this repository's own
// list has all of them.
func (w *Workspace) unknown(ctx context.Context, v1Tree git.OID) (checkpoint.Forgotten, error) {
	listed, err := checkpoint.ForgottenIn(ctx, w.Repo, v1Tree)
	if err != nil || listed.Empty() {
		return checkpoint.Forgotten{}, err
	}
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	if err != nil || t.Has(listed) {
		return checkpoint.Forgotten{}, err
	}
	return listed, nil
}

// maskSessions masks what mask finds in the states of sessions and the files beside them, and makes
// every session store its transcript again, as the stored objects may contain it, too.
func (w *Workspace) maskSessions(mask interface{ MaskInPlace(data []byte) []byte }) error {
	states, _ := w.Sessions.All() // one that can't be read is masked as a file
	for _, s := range states {
		if s.Recorder.Stored.Lines == 0 {
			continue
		}
		s.Recorder.Stored = s.Recorder.Stored.Anew()
		if err := w.Sessions.Save(s); err != nil {
			return err
		}
	}
	for _, dir := range []string{w.Sessions.SideDir(), w.Sessions.Dir()} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() {
				continue
			}
			path := filepath.Join(dir, e.Name())
			data, err := disk.ReadFile(path)
			if err != nil {
				return err
			}
			masked := mask.MaskInPlace(data) // of the same length
			if bytes.Equal(masked, data) {
				continue
			}
			info, err := os.Lstat(path)
			if err != nil {
				return err
			}
			if err := disk.WriteDurable(path, masked, info.Mode().Perm()); err != nil {
				return err
			}
		}
	}
	return nil
}

// ForgottenRedactor is a redactor that also masks the texts and files that were
// forgotten.
type ForgottenRedactor struct {
	Redactor

	Forgotten *checkpoint.TombstoneMasker
}

// Line masks and redacts a line of a transcript.
func (f ForgottenRedactor) Line(line []byte) []byte { return f.Redactor.Line(f.Forgotten.Mask(line)) }

// LineContext is Line, and returns an error soon after ctx ends.
func (f ForgottenRedactor) LineContext(ctx context.Context, line []byte) ([]byte, error) {
	masked, err := f.Forgotten.MaskContext(ctx, line)
	if err != nil {
		return nil, err
	}
	return f.Redactor.LineContext(ctx, masked)
}

// Text masks and redacts a text.
func (f ForgottenRedactor) Text(s string) string {
	return f.Redactor.Text(string(f.Forgotten.Mask([]byte(s))))
}

// TextContext is Text, and returns an error soon after ctx ends.
func (f ForgottenRedactor) TextContext(ctx context.Context, s string) (string, error) {
	masked, err := f.Forgotten.MaskContext(ctx, []byte(s))
	if err != nil {
		return "", err
	}
	return f.Redactor.TextContext(ctx, string(masked))
}

// Forget masks forgotten texts and files in a line of a transcript.
func (f ForgottenRedactor) Forget(line []byte) []byte { return f.Forgotten.Mask(line) }

// Path masks and redacts a path.
func (f ForgottenRedactor) Path(path string) string {
	return f.Redactor.Path(string(f.Forgotten.Mask([]byte(path))))
}
