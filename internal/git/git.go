// Package git is the program's only access to git. It finds the repository by reading files, reads
// and writes loose objects itself, reads some packed objects itself and all others through one
// `git cat-file --batch`, and starts git for what remains, with options for machine-readable
// output: -z, --batch, --porcelain.
//
// A file's prefix tells what it is about:
//
//   - ref: lists refs, resolves branches, and moves refs in transactions that verify the old
//     values; it never writes HEAD.
//   - tree: edits, writes and searches trees without an index and without a git process. Stored
//     objects may have no names until Repo.SyncObjects.
//   - object: lists objects and those reachable from refs, and removes objects from packs.
//   - log, diff, blame: list and search commits, compare trees, commits and the index, find the
//     commit that added a line. They only read.
//   - note: writes and merges the notes of commits, NotesRef and ImportedNotesRef.
//   - work: the working tree and its index. Everything that writes the user's index, working tree
//     or HEAD, such as CommitPaths, SwitchBranch and RestoreFrom, does so by a git process.
//   - remote: pushes and fetches, without prompting. Nothing else makes git connect to a network,
//     except to fetch objects missing from a partial clone, after ReadLazily.
package git

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// ErrMissing means that the repository has no such object or ref.
var ErrMissing = errors.New("no such object")

// UnlessMissing returns err, or nil if it is ErrMissing.
func UnlessMissing(err error) error {
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// ErrTooMuch means that the data exceeds the limit of the caller.
var ErrTooMuch = errors.New("more than was asked for")

// ErrBadPath means that git does not accept a path in a tree.
var ErrBadPath = errors.New("path can't stand in a tree")

// OID names an object: 40 or 64 lower-case hex digits. The empty string is no object.
type OID string

// Short returns the first seven digits.
func (o OID) Short() string { return string(o[:min(7, len(o))]) }

// Mode is the mode of a tree entry. Old trees may have modes other than the five below; these are
// preserved.
type Mode uint32

// The modes that git writes.
const (
	ModeFile   = Mode(filemode.Regular)
	ModeExec   = Mode(filemode.Executable)
	ModeLink   = Mode(filemode.Symlink)
	ModeTree   = Mode(filemode.Dir)
	ModeModule = Mode(filemode.Submodule)
)

// String returns the mode as git prints it, six octal digits.
func (m Mode) String() string {
	s := strconv.FormatUint(uint64(m), 8)
	return strings.Repeat("0", max(0, 6-len(s))) + s
}

// Valid reports whether git writes entries of this mode.
func (m Mode) Valid() bool {
	return m == ModeFile || m == ModeExec || m == ModeLink || m == ModeTree || m == ModeModule
}

// Format is the hash function of a repository.
type Format string

// The formats of git.
const (
	SHA1   Format = "sha1"
	SHA256 Format = "sha256"
)

// HexLen returns the length of an OID in this format.
func (f Format) HexLen() int { return 2 * f.size() }

// Zero returns the all-zero OID, which git uses for "none" on the wire.
func (f Format) Zero() OID { return OID(strings.Repeat("0", f.HexLen())) }

// Valid reports whether o is an OID of this format.
func (f Format) Valid(o OID) bool {
	if len(o) != f.HexLen() {
		return false
	}
	for i := range len(o) {
		if c := o[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (f Format) size() int {
	if f == SHA256 {
		return sha256.Size
	}
	return sha1.Size
}

func (f Format) newHash() hash.Hash {
	if f == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// HashBlob returns the OID that WriteBlob would return.
func (f Format) HashBlob(data []byte) OID { return f.hashObject("blob", data) }

// EmptyTree returns the OID of the tree without entries, which exists in every repository, stored
// or not.
func (f Format) EmptyTree() OID { return f.hashObject("tree", nil) }

// hashObject returns the OID of an object of that kind.
func (f Format) hashObject(kind string, data []byte) OID {
	h := f.newHash()
	h.Write(objectHeader(kind, len(data)))
	h.Write(data)
	return OID(hex.EncodeToString(h.Sum(nil)))
}

// HashReader returns the OID of an object whose content, of size bytes, is read from data.
func (f Format) HashReader(kind string, size int, data io.Reader) (OID, error) {
	h := f.newHash()
	h.Write(objectHeader(kind, size))
	if _, err := io.Copy(h, data); err != nil {
		return "", err
	}
	return OID(hex.EncodeToString(h.Sum(nil))), nil
}

func objectHeader(kind string, size int) []byte {
	b := append(make([]byte, 0, 32), kind...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, 0)
}
