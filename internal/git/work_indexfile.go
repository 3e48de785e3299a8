package git

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// errIndexUnread means that git has to read the index.
var errIndexUnread = errors.New("git has to read the index")

// indexHas searches for a file in the index of a git directory. Entries are sorted by the bytes of
// their names, so it stops after the last that may match. The error is errIndexUnread if the index
// is split, sparse at that path, damaged, or of another version.
func indexHas(r *Repo, gitDir, name string) (bool, error) {
	f, err := os.Open(filepath.Join(gitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, errIndexUnread
	}
	defer func() { _ = f.Close() }() // it was only read
	if split, err := isSplit(gitDir); err != nil || split {
		return false, errIndexUnread
	}
	const statSize = 40 // times, device, inode, mode, owner, size
	in := &indexReader{in: bufio.NewReader(f), fixed: statSize + r.Format.HexLen()/2}
	var header [12]byte
	if _, err := io.ReadFull(in.in, header[:]); err != nil || string(header[:4]) != "DIRC" {
		return false, errIndexUnread
	}
	in.version, in.entries = binary.BigEndian.Uint32(header[4:]), binary.BigEndian.Uint32(header[8:])
	if in.version < 2 || in.version > 4 {
		return false, errIndexUnread
	}
	for range in.entries {
		path, mode, err := in.next()
		folder, isFolder := strings.CutSuffix(path, "/")
		switch {
		case err != nil:
			return false, err
		case isFolder && mode == ModeTree && coversPath(folder, name):
			return false, errIndexUnread
		case coversPath(path, name):
			return true, nil
		case path != "" && path[0] > name[0]:
			return false, nil
		}
	}
	return false, nil
}

// isSplit reports whether an index of a git directory is split into two files.
func isSplit(gitDir string) (bool, error) {
	dir, err := os.Open(gitDir)
	if err != nil {
		return false, err
	}
	defer func() { _ = dir.Close() }() // it was only read
	names, err := dir.Readdirnames(-1)
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "sharedindex.") }), err
}

// indexReader reads the entries of an index file.
type indexReader struct {
	in      *bufio.Reader
	version uint32
	entries uint32
	fixed   int    // size of an entry before its flags
	path    []byte // of the previous entry
}

// next reads an entry.
func (r *indexReader) next() (path string, mode Mode, err error) {
	const modeAt, extended, pathLimit = 24, 0x4000, 1 << 16
	head := make([]byte, r.fixed+2)
	if _, err := io.ReadFull(r.in, head); err != nil {
		return "", 0, errIndexUnread
	}
	size := len(head)
	if binary.BigEndian.Uint16(head[r.fixed:])&extended != 0 {
		if n, err := r.in.Discard(2); err != nil || n != 2 {
			return "", 0, errIndexUnread
		}
		size += 2
	}
	keep := 0
	if r.version == 4 {
		drop, err := r.offset()
		if err != nil || drop > len(r.path) {
			return "", 0, errIndexUnread
		}
		keep = len(r.path) - drop
	}
	rest, err := r.in.ReadSlice(0)
	if err != nil || len(rest) > pathLimit {
		return "", 0, errIndexUnread
	}
	r.path = append(r.path[:keep], rest[:len(rest)-1]...)
	if r.version < 4 {
		size += len(rest) // including its NUL
		if _, err := r.in.Discard((8 - size%8) % 8); err != nil {
			return "", 0, errIndexUnread
		}
	}
	return string(r.path), Mode(binary.BigEndian.Uint32(head[modeAt:])), nil
}

// offset reads a number in the encoding of offsets in git's packs.
func (r *indexReader) offset() (int, error) {
	n := 0
	for i := range 5 {
		b, err := r.in.ReadByte()
		if err != nil {
			return 0, errIndexUnread
		}
		if i > 0 {
			n++
		}
		n = n<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errIndexUnread
}
