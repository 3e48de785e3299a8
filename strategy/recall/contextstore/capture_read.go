package contextstore

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

const (
	// maxHashedSize is the size above which a file is not hashed.
	maxHashedSize = 256 << 20
	// keptDeclarations and keptDeclared limit an outline: entries and bytes.
	keptDeclarations = 100
	keptDeclared     = 4 << 10
)

// read reads a file and takes it. The error is that of storing its content.
func (w *capturing) read(ctx context.Context, s *observation) error {
	f := Captured{Stat: s.mark, File: recall.File{
		Change: w.change(s), Omitted: s.omitted, Size: s.stat.Size, LastModified: time.Unix(0, s.stat.Mtime).UTC(),
	}}
	// An unchanged file that did not fit before and is larger than the room does not fit
	// now.
	noRoom := s.had && s.known.Omitted == recall.NoRoom && s.known.Stat == s.mark && s.mark != "" &&
		w.Limits.Contents && s.stat.Size > w.room && s.stat.Size <= w.Limits.File
	switch {
	case s.kind == missing:
		f.Size, f.LastModified, f.Omitted = 0, time.Time{}, recall.Gone
		f.Removed = linediff.Count(string(w.base.content(ctx, s, w.Limits.File)))
	case s.omitted != "":
	case s.kind == link:
		target := "" // Hash is that of the target path
		err := w.tree.in(s.path, func(dir *dirfd.Dir, name, _ string) (err error) {
			target, err = dir.Readlink(name)
			return err
		})
		if f.Omitted = recall.Link; err != nil {
			f.Stat, f.Omitted = "", recall.Unreadable
		} else {
			f.Hash, f.Size = disk.Digest([]byte(target)), int64(len(target))
		}
	case s.kind == odd:
		f.Omitted = recall.Unreadable
	case s.stat.Size > maxHashedSize:
		f.Omitted = recall.TooLarge
	case w.Limits.Work > 0 && s.stat.Size > w.work:
		w.leave([]*observation{s})
		return nil
	case noRoom:
		f = s.known
	default:
		w.work -= s.stat.Size
		err := w.readRegular(ctx, s, &f)
		w.take(s, f)
		return err
	}
	w.take(s, f)
	return nil
}

func (w *capturing) change(s *observation) recall.Change {
	switch {
	case s.kind == missing:
		return recall.Deleted
	case s.inBase, w.base.unknown, s.nested != "":
		return recall.Modified
	}
	return recall.Added
}

// readRegular reads a file, and stores its content unless the limits exclude it.
func (w *capturing) readRegular(ctx context.Context, s *observation, f *Captured) error {
	if s.stat.Size > w.Limits.File {
		f.Omitted = recall.TooLarge
		w.tree.hashLarge(ctx, s, f)
		return nil
	}
	data, ok := w.tree.content(s, f, w.Limits.File)
	if !ok {
		f.Stat, f.Omitted = "", recall.Unreadable
		return nil
	}
	f.Hash, f.Size = disk.Digest(data), int64(len(data))
	if !bytes.Contains(data, []byte("\r\n")) { // git may store other line endings
		f.Own = string(w.Repo.Format.HashBlob(data))
	}
	if isBinary(data) {
		f.Omitted = recall.Binary
		return nil
	}
	switch {
	case !s.inBase && f.Change == recall.Added:
		f.Added = linediff.Count(string(data))
	case s.inBase && w.Repo.Format.HashBlob(data) != s.base.OID:
		if old := w.base.content(ctx, s, w.Limits.File); old != nil {
			f.Added, f.Removed = CountChanged(string(old), string(data))
		}
	}
	switch {
	case !w.Limits.Contents:
		f.Omitted = recall.NotWanted
		return nil
	case f.Size > w.room:
		f.Omitted = recall.NoRoom
		return nil
	}
	text, err := w.Redact.TextContext(ctx, string(data))
	if err != nil {
		f.Stat, f.Omitted = "", recall.Unreadable
		return err
	}
	oid, err := w.Repo.WriteBlob([]byte(text))
	if err != nil {
		f.Stat, f.Omitted = "", recall.Unreadable
		return err
	}
	f.Blob, f.Outline = string(oid), Outline(s.path, text)
	size := 0
	for i, d := range f.Outline {
		if size += len(d.Text); i == keptDeclarations || size > keptDeclared {
			f.Outline = f.Outline[:i]
			break
		}
	}
	return nil
}

// isBinary reports whether a content is not text.
func isBinary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) }

// CountChanged returns the number of lines added and removed between two texts, treating
// CRLF as LF.
func CountChanged(before, after string) (added, removed int) {
	return linediff.Totals(linediff.Compare(unixLines(before), unixLines(after), linediff.Quick))
}

// unixLines returns the text with every line ended by a single newline.
func unixLines(text string) string {
	return strings.ReplaceAll(linediff.WholeLines(text), "\r\n", "\n")
}
