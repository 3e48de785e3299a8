package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Object is an object as the repository has it.
type Object struct {
	OID  OID
	Type string // commit, tree, blob, tag
	Data []byte
}

// readLimit bounds what Read takes into memory.
const readLimit = 256 << 20

// Read returns the object that spec names, in any of git's ways: an OID, a
// ref, "HEAD^{tree}", "HEAD:path", ":path" for the index. The error is
// ErrMissing if there is none, and ErrTooMuch above 256 MiB. Loose objects and the first
// packed ones are read from their files; all other reads share one git process.
func (r *Repo) Read(ctx context.Context, spec string) (Object, error) {
	return r.ReadWithin(ctx, spec, readLimit)
}

// ReadWithin is Read of an object of at most limit bytes: ErrTooMuch if it has
// more. That costs the git process, as the rest would have to be read.
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

// readFile reads an object from the repository's files without a git process. It
// resolves object names, HEAD, branches and refs of ours, with ^{commit}, with a path or
// without either. The error is ErrMissing for a ref or a path that isn't there, ErrTooMuch
// above limit bytes, and errAskGit for everything that it leaves to git: replaced objects,
// those of alternates, damaged ones, large packed ones or many of them, and other names.
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

// readStored reads an object from its file or a pack.
func (r *Repo) readStored(oid OID, limit int64) (Object, error) {
	o, err := r.Loose.read(oid, limit)
	if errors.Is(err, errAskGit) && !r.cat.running() {
		o, err = r.packed.read(oid, limit)
	}
	return o, err
}

// readPath reads what the commit or tree root has at a path. Paths that git takes as
// relative to the current folder, or corrects, are left to git.
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
			return Object{}, errAskGit // a tag, or no folder
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

// ReadLazily lets later reads fetch what a partial clone has left at its remote.
func (r *Repo) ReadLazily() error {
	r.Loose.pending.discard()
	r.packed.close()
	return r.cat.fetchLazily()
}

// Close closes what objects are read from, files and the git process, and removes the
// objects that have no names. A later read opens the files anew.
func (r *Repo) Close() error {
	r.Loose.pending.discard()
	r.packed.close()
	return r.cat.close()
}
