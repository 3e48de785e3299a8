package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// Indexes of unit.parts, in the order in which they are copied: pages that a checkpoint moves to
// the main file must be in the log, which is copied after it.
const (
	mainPart = iota
	journalPart
	logPart
	partCount
)

// headSize is the length of a database's header.
const headSize = 100

// part is one file of a unit. A zero Stat means that it doesn't exist.
type part struct {
	name    string
	st      dirfd.Stat
	file    *os.File
	content *os.File // for take: file, or a private copy of it
}

func (p *part) exists() bool { return p.file != nil }
func (p *part) copied() bool { return p.content != nil && p.content != p.file }

// unit is a database that is being captured.
type unit struct {
	dir   *dirfd.Dir
	tick  int64 // the stamp of changes when the parts' stats were read
	head  []byte
	parts [partCount]part
	done  int // number of parts passed to take
	// settled reports whether every change of the main file shows in its stamps.
	settled bool
}

// openUnit opens the files of a database, after a stat of each by name.
func openUnit(dir *dirfd.Dir, main string) (*unit, error) {
	also := Companions(main)
	u := &unit{dir: dir, tick: stampClock()}
	for i, name := range [partCount]string{main, also[0], also[1]} {
		p := &u.parts[i]
		p.name = name
		var err error
		if p.st, err = look(dir, name); err != nil {
			return u, err
		}
		if p.st.Ino == 0 {
			continue
		}
		if p.file, err = dir.OpenFile(name); errors.Is(err, fs.ErrNotExist) {
			return u, errMoved
		} else if err != nil {
			return u, fmt.Errorf("capture database: %w", err)
		}
	}
	if !u.parts[mainPart].exists() {
		return u, fmt.Errorf("capture database %s: %w", main, fs.ErrNotExist)
	}
	var err error
	u.head, err = readHead(u.parts[mainPart].file, headSize)
	return u, err
}

// close closes all open files.
func (u *unit) close() {
	for i := range u.parts {
		p := &u.parts[i]
		if p.copied() {
			_ = p.content.Close()
		}
		if p.exists() {
			_ = p.file.Close()
		}
	}
}

// look returns the file's stat data, zero if there is no regular file of that name.
func look(dir *dirfd.Dir, name string) (dirfd.Stat, error) {
	var st dirfd.Stat
	err := dir.Stat(name, &st)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsRegular() {
		return dirfd.Stat{}, nil
	}
	if err != nil {
		return dirfd.Stat{}, fmt.Errorf("capture database: %w", err)
	}
	return st, nil
}

// sameFile reports whether both are the same file, changed or not.
func sameFile(a, b dirfd.Stat) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// readHead reads the first n bytes of the file, or the whole file if it is shorter.
func readHead(f *os.File, n int) ([]byte, error) {
	head := make([]byte, n)
	got, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("capture database: %w", err)
	}
	return head[:got], nil
}

// copyAll copies every part. From the first that can't be copied on, parts are passed to take
// immediately, to be read in place.
func (u *unit) copyAll(limit int64, take Take) error {
	for i := range u.parts {
		p := &u.parts[i]
		if !p.exists() {
			continue
		}
		if i == logPart {
			// The log may have grown since, by pages that are in the main file by now.
			st, err := look(u.dir, p.name)
			if err != nil {
				return err
			}
			if !sameFile(st, p.st) || st.Size < p.st.Size {
				return errMoved
			}
			p.st = st
		}
		var err error
		if p.content, err = privateCopy(u.dir, p, limit); err != nil {
			return err
		}
		if !u.inPlace() {
			continue
		}
		if i == mainPart && !u.settled {
			return errMoved
		}
		if err := u.handTo(i+1, take); err != nil {
			return err
		}
	}
	return nil
}

// inPlace reports whether a part is read in place.
func (u *unit) inPlace() bool {
	for i := range u.parts {
		if p := &u.parts[i]; p.content != nil && !p.copied() {
			return true
		}
	}
	return false
}

// handTo passes the parts before end to take, unless it has them already.
func (u *unit) handTo(end int, take Take) error {
	for ; u.done < end; u.done++ {
		p := &u.parts[u.done]
		if !p.exists() {
			continue
		}
		if err := take(p.name, p.content, p.st); err != nil {
			return err
		}
	}
	return nil
}

// sameContent returns errMoved unless the part's file still equals the copy.
func (p *part) sameContent() error {
	const chunk = 256 << 10
	a, b := make([]byte, chunk), make([]byte, chunk)
	for at := int64(0); at < p.st.Size; at += chunk {
		n := min(chunk, p.st.Size-at)
		if err := readFull(p.file, a[:n], at); err != nil {
			return err
		}
		if err := readFull(p.content, b[:n], at); err != nil {
			return err
		}
		if !bytes.Equal(a[:n], b[:n]) {
			return errMoved
		}
	}
	return nil
}

// readFull fills b from the file at the offset. The error is errMoved if the file is too short.
func readFull(f *os.File, b []byte, at int64) error {
	switch _, err := f.ReadAt(b, at); {
	case errors.Is(err, io.EOF):
		return errMoved
	case err != nil:
		return fmt.Errorf("capture database: %w", err)
	default:
		return nil
	}
}
