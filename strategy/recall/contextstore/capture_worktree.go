package contextstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// worktree reads files below an open directory.
type worktree struct {
	root *dirfd.Dir
	// began is the time at which the capture began.
	began time.Time
}

// see observes a path. It follows no symbolic links and treats a path through one as
// missing.
func (t worktree) see(path string) *observation {
	s := &observation{path: path, mark: goneMark}
	err := t.in(path, func(dir *dirfd.Dir, name, nested string) error {
		s.nested = nested
		return dir.Stat(name, &s.stat)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return s
	case err != nil:
		s.kind, s.mark = odd, ""
		return s
	}
	switch {
	case s.stat.IsDir():
		return s // a directory in its place
	case s.stat.IsRegular():
		s.kind = regular
	case s.stat.IsSymlink():
		s.kind = link
	default:
		s.kind = odd
	}
	s.mark = t.markOf(&s.stat)
	return s
}

// in calls do with the directory of a path.
func (t worktree) in(path string, do func(dir *dirfd.Dir, name, nested string) error) error {
	dir, nested, rest := t.root, "", path
	for {
		name, below, found := strings.Cut(rest, "/")
		if !found {
			return errors.Join(do(dir, name, nested), t.done(dir))
		}
		next, err := dir.Open(name)
		if err = errors.Join(err, t.done(dir)); err != nil {
			return err
		}
		var repository dirfd.Stat
		if dir, rest = next, below; dir.Stat(".git", &repository) == nil {
			nested = strings.TrimSuffix(path, "/"+rest)
		}
	}
}

// done closes a directory, except the root.
func (t worktree) done(dir *dirfd.Dir) error {
	if dir == t.root {
		return nil
	}
	return dir.Close()
}

// markOf returns the mark of a file, or "" if the file changed so recently that another
// change could leave the same mark.
func (t worktree) markOf(s *dirfd.Stat) string {
	tick := 100 * time.Millisecond
	if s.Coarse() {
		tick = 2 * time.Second
	}
	if max(s.Mtime, s.Ctime) > t.began.Add(-tick).UnixNano() {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d.%d.%d", s.Size, s.Mtime, s.Ctime, s.Ino, s.Mode)
}

// content reads a file of at most limit bytes. If the file changes during each of the
// attempts, content returns the last content and clears f.Stat, so that the file is read
// again the next time.
func (t worktree) content(s *observation, f *Captured, limit int64) ([]byte, bool) {
	const most = 3
	var data []byte
	for n := 1; ; n++ {
		var before, after dirfd.Stat
		got := 0
		err := t.in(s.path, func(dir *dirfd.Dir, name, _ string) (err error) {
			data = make([]byte, max(s.stat.Size, 1))
			got, err = dir.ReadSmall(name, data, &before, &after)
			return err
		})
		if err != nil {
			return nil, false
		}
		if got >= 0 && sameFile(&before, &after) && int64(got) == before.Size {
			if !sameFile(&before, &s.stat) {
				f.Stat, f.LastModified = t.markOf(&before), time.Unix(0, before.Mtime).UTC()
			}
			return data[:got], true
		}
		if n == most {
			f.Stat = ""
			return data[:max(got, 0)], got >= 0
		}
		if s.stat = before; before.Size > limit {
			return nil, false
		}
	}
}

// hashLarge hashes a file in chunks.
func (t worktree) hashLarge(ctx context.Context, s *observation, f *Captured) {
	sum := sha256.New()
	err := t.in(s.path, func(dir *dirfd.Dir, name, _ string) error {
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
	if again := t.see(s.path); !sameFile(&again.stat, &s.stat) {
		f.Stat = ""
	}
}

func sameFile(a, b *dirfd.Stat) bool {
	return a.Size == b.Size && a.Mtime == b.Mtime && a.Ctime == b.Ctime && a.Ino == b.Ino
}
