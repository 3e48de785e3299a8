package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Object is an object of the repository with its content.
type Object struct {
	OID  OID
	Type string // commit, tree, blob, tag
	Data []byte
}

// readLimit bounds the size of an object that Read returns.
const readLimit = 256 << 20

// Read returns the object that spec names in any of git's forms: an OID, a ref, "HEAD^{tree}",
// "HEAD:path", ":path" for the index. The error is ErrMissing if there is none, and ErrTooMuch
// above 256 MiB. Loose objects and the first packed ones are read from their files; all other reads
// share one git process.
func (r *Repo) Read(ctx context.Context, spec string) (Object, error) {
	return r.ReadWithin(ctx, spec, readLimit)
}

// ReadWithin is like Read for objects of at most limit bytes; the error is ErrTooMuch for larger
// ones. That ends the git process, as the rest would have to be read.
func (r *Repo) ReadWithin(ctx context.Context, spec string, limit int64) (Object, error) {
	if spec == "" || strings.ContainsAny(spec, "\n\x00") || strings.HasSuffix(spec, "\r") {
		return Object{}, fmt.Errorf("read %q: not an object's name", spec)
	}
	if object, found, err := r.Loose.pending.read(spec, r.Format.HexLen()); found || err != nil {
		return object, err
	}
	if err := ctx.Err(); err != nil {
		return Object{}, fmt.Errorf("read %s: %w", spec, err)
	}
	if object, err := r.readFile(spec, limit); err == nil {
		return object, nil
	} else if !errors.Is(err, errAskGit) {
		return Object{}, fmt.Errorf("read %s: %w", spec, err)
	}
	return r.cat.read(ctx, spec, limit)
}

// readFile reads an object from the repository's files without a git process. It resolves object
// names, HEAD, branches and the program's own refs, optionally with ^{commit} or with a path. The
// error is ErrMissing for a missing ref or path and for an object that a partial clone lacks, ErrTooMuch above limit bytes, and errAskGit for
// everything that is left to git: replaced objects, alternates, damaged objects, large packed ones
// or many of them, and other names.
func (r *Repo) readFile(spec string, limit int64) (Object, error) {
	if r.replaces() {
		return Object{}, errAskGit
	}
	if root, path, ok := strings.Cut(spec, ":"); ok {
		return r.readPath(root, path, limit)
	}
	name, peel := strings.CutSuffix(spec, "^{commit}")
	oid := OID(name)
	if !r.Format.Valid(oid) {
		var err error
		if oid, err = r.refs.resolve(name); err != nil {
			return Object{}, err
		}
	}
	o, err := r.readStored(oid, limit)
	if err != nil {
		return Object{}, err
	}
	if peel && o.Type != "commit" {
		return Object{}, errAskGit // a tag
	}
	return o, nil
}

// readStored reads an object from its loose file or a pack.
func (r *Repo) readStored(oid OID, limit int64) (Object, error) {
	o, err := r.Loose.read(oid, limit)
	if errors.Is(err, errAskGit) && !r.cat.running() {
		o, err = r.packed.read(oid, limit)
	}
	if errors.Is(err, errAskGit) && r.present.lacks(oid) {
		return Object{}, ErrMissing
	}
	return o, err
}

// readPath reads the object at a path in the commit or tree root. Paths that git interprets
// relative to the current directory, or normalizes, are left to git.
func (r *Repo) readPath(root, path string, limit int64) (Object, error) {
	if root == "" || !fs.ValidPath(path) || path == "." {
		return Object{}, errAskGit
	}
	o, err := r.readFile(root, readLimit)
	if err != nil {
		return Object{}, err
	}
	if o.Type == "commit" {
		c, err := ParseCommit(o)
		if err != nil {
			return Object{}, errAskGit
		}
		if o, err = r.readStored(c.Tree, readLimit); err != nil {
			return Object{}, err
		}
	}
	for more := true; more; {
		var name string
		name, path, more = strings.Cut(path, "/")
		if o.Type != "tree" {
			return Object{}, errAskGit // a tag, or not a directory
		}
		entries, err := decodeTree(o.Data, r.Format)
		if err != nil {
			return Object{}, errAskGit
		}
		i := slices.IndexFunc(entries, func(e TreeEntry) bool { return e.Name == name })
		if i < 0 {
			return Object{}, ErrMissing
		}
		most := limit
		if more {
			most = readLimit
		}
		if o, err = r.readStored(entries[i].OID, most); err != nil {
			return Object{}, err
		}
	}
	return o, nil
}

// ReadLazily lets later reads fetch objects that a partial clone has left at its remote.
func (r *Repo) ReadLazily() error {
	r.Loose.pending.discard()
	r.packed.close()
	r.present.reset(true)
	return r.cat.fetchLazily()
}

// Close closes the open files, ends the git process for reads, and removes pending objects. A later
// read opens the files again.
func (r *Repo) Close() error {
	r.Loose.pending.discard()
	r.packed.close()
	r.present.reset(false)
	return r.cat.close()
}
