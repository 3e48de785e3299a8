package capture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/outline"
)

const (
	// maxHashedSize is the size above which a file is not hashed.
	maxHashedSize = 256 << 20
	// keptDeclarations and keptDeclared are the limits of an outline: entries and bytes.
	keptDeclarations = 100
	keptDeclared     = 4 << 10
)

// read takes the file at a path. The error is that of storing its content.
func (w *capturing) read(ctx context.Context, s *observation) error {
	f := Captured{Stat: s.mark, File: recall.File{
		Change: w.change(s), Omitted: s.omitted, Size: s.stat.Size, LastModified: time.Unix(0, s.stat.Mtime).UTC(),
	}}
	switch {
	case s.kind == missing:
		f.Size, f.LastModified, f.Omitted = 0, time.Time{}, recall.Gone
		f.Removed = linediff.Count(string(w.baseContent(ctx, s)))
	case s.omitted != "":
	case s.kind == link:
		w.readLink(s, &f)
	case s.kind == odd:
		f.Omitted = recall.Unreadable
	case s.stat.Size > maxHashedSize:
		f.Omitted = recall.TooLarge
	case w.Limits.Work > 0 && s.stat.Size > w.work:
		w.leave([]*observation{s})
		return nil
	case w.stillNoRoom(s):
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

// stillNoRoom reports whether an unchanged file that had no room still has none.
func (w *capturing) stillNoRoom(s *observation) bool {
	same := s.had && s.known.Omitted == recall.NoRoom && s.known.Stat == s.mark && s.mark != ""
	return same && w.Limits.Contents && s.stat.Size > w.room && s.stat.Size <= w.Limits.File
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

func (w *capturing) readLink(s *observation, f *Captured) {
	var target string
	err := w.in(s.path, func(dir *dirfd.Dir, name, _ string) (err error) {
		target, err = dir.Readlink(name)
		return err
	})
	if f.Omitted = recall.Link; err != nil {
		f.Stat, f.Omitted = "", recall.Unreadable
		return
	}
	f.Hash, f.Size = hashOf([]byte(target)), int64(len(target))
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readRegular reads a file, and stores its content if it is to be kept.
func (w *capturing) readRegular(ctx context.Context, s *observation, f *Captured) error {
	if s.stat.Size > w.Limits.File {
		f.Omitted = recall.TooLarge
		w.hashLarge(ctx, s, f)
		return nil
	}
	data, ok := w.content(s, f)
	if !ok {
		f.Stat, f.Omitted = "", recall.Unreadable
		return nil
	}
	f.Hash, f.Size = hashOf(data), int64(len(data))
	if !bytes.Contains(data, []byte("\r\n")) { // git may store other line ends
		f.Own = string(w.Repo.Format.HashBlob(data))
	}
	if isBinary(data) {
		f.Omitted = recall.Binary
		return nil
	}
	w.count(ctx, s, f, data)
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
	f.Blob, f.Outline = string(oid), bounded(outline.Outline(s.path, text))
	return nil
}

// content reads a file within the limit. If it changes all the while, the last content
// counts, and the file is read again the next time.
func (w *capturing) content(s *observation, f *Captured) ([]byte, bool) {
	const most = 3
	var data []byte
	for n := 1; ; n++ {
		var before, after dirfd.Stat
		got := 0
		err := w.in(s.path, func(dir *dirfd.Dir, name, _ string) (err error) {
			data = make([]byte, max(s.stat.Size, 1))
			got, err = dir.ReadSmall(name, data, &before, &after)
			return err
		})
		if err != nil {
			return nil, false
		}
		if got >= 0 && same(&before, &after) && int64(got) == before.Size {
			if !same(&before, &s.stat) {
				f.Stat, f.LastModified = w.markOf(&before), time.Unix(0, before.Mtime).UTC()
			}
			return data[:got], true
		}
		if n == most {
			f.Stat = ""
			return data[:max(got, 0)], got >= 0
		}
		if s.stat = before; before.Size > w.Limits.File {
			return nil, false
		}
	}
}

func same(a, b *dirfd.Stat) bool {
	return a.Size == b.Size && a.Mtime == b.Mtime && a.Ctime == b.Ctime && a.Ino == b.Ino
}

// hashLarge hashes a file in pieces.
func (w *capturing) hashLarge(ctx context.Context, s *observation, f *Captured) {
	sum := sha256.New()
	err := w.in(s.path, func(dir *dirfd.Dir, name, _ string) error {
		file, err := dir.OpenFile(name)
		if err != nil {
			return err
		}
		for err == nil && ctx.Err() == nil {
			_, err = io.CopyN(sum, file, 1<<20)
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return errors.Join(err, ctx.Err(), file.Close())
	})
	if err != nil {
		f.Stat, f.Omitted = "", recall.Unreadable
		return
	}
	f.Hash = hex.EncodeToString(sum.Sum(nil))
	if again := w.see(s.path); !same(&again.stat, &s.stat) {
		f.Stat = ""
	}
}

// isBinary reports whether a content is not text.
func isBinary(data []byte) bool { return bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) }

// count sets the numbers of lines changed since the base.
func (w *capturing) count(ctx context.Context, s *observation, f *Captured, data []byte) {
	switch {
	case !s.inBase && f.Change == recall.Added:
		f.Added = linediff.Count(string(data))
	case s.inBase && w.Repo.Format.HashBlob(data) != s.base.OID:
		if old := w.baseContent(ctx, s); old != nil {
			f.Added, f.Removed = CountChanged(string(old), string(data))
		}
	}
}

// baseContent returns the content of a path in the base, nil if that is not text.
func (w *capturing) baseContent(ctx context.Context, s *observation) []byte {
	if !s.inBase || s.base.Mode != git.ModeFile && s.base.Mode != git.ModeExec {
		return nil
	}
	object, err := w.Repo.Read(ctx, string(s.base.OID))
	if err != nil || int64(len(object.Data)) > w.Limits.File || isBinary(object.Data) {
		return nil
	}
	if object.Data == nil {
		return []byte{}
	}
	return object.Data
}

// bounded returns the beginning of an outline.
func bounded(outline []recall.Declaration) []recall.Declaration {
	size := 0
	for i, d := range outline {
		if size += len(d.Text); i == keptDeclarations || size > keptDeclared {
			return outline[:i]
		}
	}
	return outline
}
