package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zlib"
)

// maxPackedRefs is the size up to which packed-refs is read here.
const maxPackedRefs = 1 << 20

// errAskGit means that files don't say what git would.
var errAskGit = errors.New("git has to be asked")

// readLoose reads a loose object of the repository without a git process. It
// resolves object names, HEAD and branches, with ^{commit} or without. The error is
// ErrMissing for a ref that isn't there, ErrTooMuch above limit bytes, and
// errAskGit for everything that it leaves to git: packed objects, replaced ones,
// those of alternates, damaged ones, and other names.
func (r *Repo) readLoose(spec string, limit int64) (Object, error) {
	if r.replaces() {
		return Object{}, errAskGit
	}
	name, peel := strings.CutSuffix(spec, "^{commit}")
	oid := OID(name)
	if !r.Format.Valid(oid) {
		var err error
		if oid, err = r.ResolveRef(name); err != nil {
			return Object{}, err
		}
	}
	o, err := r.inflate(oid, limit)
	if err != nil {
		return Object{}, err
	}
	if peel && o.Type != "commit" {
		return Object{}, errAskGit // a tag
	}
	return o, nil
}

// inflate reads the file of a loose object.
func (r *Repo) inflate(oid OID, limit int64) (Object, error) {
	f, err := os.Open(r.loosePath(oid))
	if err != nil {
		return Object{}, errAskGit
	}
	defer func() { _ = f.Close() }() // it was only read
	in, err := r.inflater(f)
	if err != nil {
		return Object{}, errAskGit
	}
	defer r.inflaters.Put(in)
	kind, size, err := readObjectHeader(in)
	if err != nil {
		return Object{}, err
	}
	if size > limit {
		return Object{}, fmt.Errorf("%s of %d bytes, at most %d are read: %w", kind, size, limit, ErrTooMuch)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return Object{}, errAskGit
	}
	if _, err := io.ReadFull(in, make([]byte, 1)); !errors.Is(err, io.EOF) { // it ends there, and its checksum is right
		return Object{}, errAskGit
	}
	return Object{OID: oid, Type: kind, Data: data}, nil
}

// inflater is a reader of what f has compressed.
func (r *Repo) inflater(f *os.File) (io.Reader, error) {
	in, ok := r.inflaters.Get().(io.Reader)
	if !ok {
		return zlib.NewReader(f)
	}
	again, ok := in.(zlib.Resetter)
	if !ok {
		return nil, errAskGit
	}
	return in, again.Reset(f, nil)
}

// readObjectHeader reads "<type> <size>" and the NUL after it.
func readObjectHeader(in io.Reader) (kind string, size int64, err error) {
	header := make([]byte, 0, 32)
	for {
		if len(header) == cap(header) {
			return "", 0, errAskGit
		}
		at := header[len(header) : len(header)+1]
		if _, err := io.ReadFull(in, at); err != nil {
			return "", 0, errAskGit
		}
		if at[0] == 0 {
			break
		}
		header = header[:len(header)+1]
	}
	kind, digits, _ := strings.Cut(string(header), " ")
	size, err = strconv.ParseInt(digits, 10, 64)
	if err != nil || size < 0 || size > 1<<40 {
		return "", 0, errAskGit
	}
	switch kind {
	case "commit", "tree", "blob", "tag":
		return kind, size, nil
	}
	return "", 0, errAskGit
}

// ResolveRef reads what HEAD, a branch, or a ref of a remote points at, without a
// git process. The error is ErrMissing if it points at nothing, and another one for
// everything that only git can resolve.
func (r *Repo) ResolveRef(name string) (OID, error) {
	if r.RefStorage != "files" {
		return "", errAskGit
	}
	for range 5 { // as many as git follows
		path := filepath.Join(r.CommonDir, filepath.FromSlash(name))
		switch {
		case name == "HEAD":
			path = filepath.Join(r.GitDir, name)
		case !isSharedRef(name):
			return "", errAskGit
		}
		data, err := os.ReadFile(path) //nolint:gosec // HEAD, or below refs: isSharedRef
		if errors.Is(err, fs.ErrNotExist) && name != "HEAD" {
			return r.packedRef(name)
		}
		if err != nil {
			return "", errAskGit
		}
		text := strings.TrimSuffix(string(data), "\n")
		if r.Format.Valid(OID(text)) {
			return OID(text), nil
		}
		target, symbolic := strings.CutPrefix(text, "ref: ")
		if !symbolic {
			return "", errAskGit
		}
		name = target
	}
	return "", errAskGit
}

// isSharedRef reports whether name is that of a ref which all worktrees share, and
// which git takes for no other expression.
func isSharedRef(name string) bool {
	if !strings.HasPrefix(name, "refs/heads/") && !strings.HasPrefix(name, "refs/remotes/") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' {
			return false
		}
	}
	return !strings.ContainsAny(name, " ~^:?*[\\@\n\x7f") && !strings.Contains(name, "..")
}

// packedRef finds a ref in packed-refs: ErrMissing if it isn't there. The caller
// has found that it isn't loose: git packs a ref before it removes the loose one.
func (r *Repo) packedRef(name string) (OID, error) {
	data, err := r.packedRefs()
	if err != nil {
		return "", err
	}
	line := bytes.Index(data, []byte(" "+name+"\n"))
	if line < 0 {
		return "", ErrMissing
	}
	oid := OID(data[max(line-r.Format.HexLen(), 0):line])
	if !r.Format.Valid(oid) {
		return "", errAskGit
	}
	return oid, nil
}

// packedRefs is the file of that name, empty if there is none.
func (r *Repo) packedRefs() ([]byte, error) {
	path := filepath.Join(r.CommonDir, "packed-refs")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil || info.Size() > maxPackedRefs:
		return nil, errAskGit
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, errAskGit
	}
	return data, nil
}

// lookForReplacements reports whether objects of the repository may be replaced by
// others (git-replace).
func (r *Repo) lookForReplacements() bool {
	if _, err := os.Lstat(filepath.Join(r.CommonDir, "refs", "replace")); !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	data, err := r.packedRefs()
	return err != nil || bytes.Contains(data, []byte(" refs/replace/"))
}
