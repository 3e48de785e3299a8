// Package diff compares two snapshots, or a snapshot and the present tree: the files that differ,
// with their numbers of lines and renames, and a unified diff that git applies. It searches many
// snapshots of a lineage, too: a FileHistory finds those in which paths changed, and in which each
// line of a file appeared; a BisectSearch finds the one from which on a command fails, by running
// it in a scratch tree. docs/formats/bisect.md describes the recorded state of a bisect.
package diff

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/linediff"
)

const (
	// countable is the maximum length of files whose lines are counted and compared.
	countable = 4 << 20
	// binaryHead is the length of the beginning of a file searched for a NUL, as in git.
	binaryHead = 8000
	// heavyText is the length above which texts are compared one pair at a time.
	heavyText = 1 << 20
	// countedFiles is the number of differing files up to which the lines of added and deleted
	// files are counted too.
	countedFiles = 5000
)

// Side is one of the two trees of a diff.
type Side struct {
	loader band.Loader
	root   band.Ref
	// copy writes a file's content to w until w returns errEnough.
	copy  func(w io.Writer, path string, e *band.Entry) error
	close func() error
}

// SnapshotSide returns a snapshot as a side of a diff.
func SnapshotSide(s *bands.Store, v bands.Snapshot) (Side, error) {
	content, err := bands.OpenContent(s, v)
	if err != nil {
		return Side{}, err
	}
	root, _ := v.Tree.Ref()
	return Side{
		loader: content.Records, root: root, close: content.Bands.Close,
		copy: func(w io.Writer, _ string, e *band.Entry) error { return content.CopyTo(w, e) },
	}, nil
}

// PresentSide returns the tree that Scan found below root as a side of a diff. Contents of files
// are read from the tree itself; a file that has changed since isn't compared: see File.Unread.
// The caller closes p.
func PresentSide(p *capture.Present, root string) (Side, error) {
	return Side{
		loader: p.Loader, root: p.Tree, close: func() error { return nil },
		copy: func(w io.Writer, path string, e *band.Entry) error { return copyBelow(w, root, path, e) },
	}, nil
}

// Unmatched returns the paths that no side has. Paths that a side doesn't hold, or that can't be
// read, count as existing.
func Unmatched(paths []string, sides ...Side) []string {
	var none []string
	for _, p := range paths {
		if !slices.ContainsFunc(sides, func(s Side) bool {
			_, err := band.LookupPath(s.loader, s.root, p)
			return !errors.Is(err, fs.ErrNotExist)
		}) {
			none = append(none, p)
		}
	}
	return none
}

// Close closes the side.
func (s Side) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// copyBelow copies the file of the tree for which Scan found e. The error is capture.ErrMoved if
// the file is another one now, or changes during the copy.
func copyBelow(w io.Writer, root, path string, e *band.Entry) (err error) {
	dir, err := bands.OpenBelow(root, band.ParentPath(path))
	if err != nil {
		return moved(err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	f, err := dir.OpenFile(band.BasePath(path))
	if err != nil {
		return moved(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := isStill(f, e); err != nil {
		return err
	}
	if _, err := io.Copy(w, f); err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return isStill(f, e)
}

// moved converts an error of opening a file that existed before to capture.ErrMoved.
func moved(err error) error {
	if capture.IsFatal(err) {
		return err
	}
	return fmt.Errorf("%w: %w", capture.ErrMoved, err)
}

// isStill returns capture.ErrMoved unless the file still has the size and time of e. Databases
// are exempt: their captured form differs from the file.
func isStill(f *os.File, e *band.Entry) error {
	var st dirfd.Stat
	if err := dirfd.StatFile(f, &st); err != nil {
		return err
	}
	if st.Size == e.Size && capture.AttrOf(&st).Mtime.Equal(e.Attr.Mtime) || capture.IsDatabase(f) {
		return nil
	}
	return capture.ErrMoved
}

// errEnough stops a copy.
var errEnough = errors.New("enough")

// limited buffers n bytes. The buffer is not embedded: io.Copy would use its ReadFrom, which has
// no limit.
type limited struct {
	buf bytes.Buffer
	n   int
}

// Write appends up to the limit, and returns errEnough when it is reached.
func (l *limited) Write(b []byte) (int, error) {
	if room := l.n - l.buf.Len(); len(b) >= room {
		_, _ = l.buf.Write(b[:room])
		return room, errEnough
	}
	return l.buf.Write(b)
}

// read returns at most n bytes of a file's content, or the target of a symlink.
func (s Side) read(path string, e *band.Entry, n int) ([]byte, error) {
	switch {
	case e == nil || e.Kind == band.File && e.Size == 0:
		return nil, nil
	case e.Kind == band.Symlink:
		return []byte(e.Target), nil
	}
	to := &limited{n: n}
	to.buf.Grow(int(min(e.Size, int64(n))))
	if err := s.copy(to, path, e); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return to.buf.Bytes(), nil
}

// Kind is the kind of a difference.
type Kind string

// The kinds of differences.
const (
	Added      Kind = "added"
	Deleted    Kind = "deleted"
	Modified   Kind = "modified"
	Renamed    Kind = "renamed"
	Attributes Kind = "attributes"
	Retyped    Kind = "type"
)

// File is a file that differs.
type File struct {
	Path string
	// OldPath is the former path of a renamed file.
	OldPath string
	Kind    Kind
	// Added and Removed count lines, if Counted. Lines of binary files, and of files above 4 MiB,
	// are not counted.
	Added, Removed  int
	Counted, Binary bool
	// Unread reports whether the file of the tree was changed or removed before it could be
	// compared.
	Unread bool

	old, now *band.Entry
}

// Options limit a diff.
type Options struct {
	// Paths are files and directories; empty for everything.
	Paths []string
	// NoCounts doesn't count lines, so that less content is read.
	NoCounts bool
	// Progress is called with the number and the length of the files compared by lines, unless it
	// is nil.
	Progress func(bands.Progress)
}

// Stat returns the files that differ, sorted by path. Directories are included only if they are
// empty or their attributes differ. Differing times are ignored, and so are paths that one of the
// sides doesn't hold.
func Stat(ctx context.Context, old, now Side, o Options) ([]File, error) {
	in, err := restore.Scope{Paths: o.Paths}.Compile(nil)
	if err != nil {
		return nil, err
	}
	var list []File
	err = band.DiffTrees(ctx, old.loader, old.root, now.loader, now.root, func(c band.Change) error {
		if in.Relate(c.Path) != restore.Inside || c.Path == "" {
			return nil
		}
		kind, err := diffKind(c, old.loader, now.loader)
		if err != nil || kind == "" {
			return err
		}
		list = append(list, File{Path: c.Path, Kind: kind, old: c.Old, now: c.New})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	if list, err = withoutLayouts(old, now, list); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	if list, err = findRenames(old, now, list); err != nil {
		return nil, err
	}
	if !o.NoCounts {
		if err := countLines(ctx, old, now, list, o.Progress); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return list, nil
}

// withoutLayouts returns the files without those that differ only in the layout of their parts and
// holes. Such a file is left out, or listed for its attributes.
func withoutLayouts(old, now Side, list []File) ([]File, error) {
	kept := list[:0]
	for _, d := range list {
		if d.Kind == Modified && d.old.Kind == band.File && d.now.Kind == band.File && d.old.Size == d.now.Size && (d.old.Parts || d.now.Parts) {
			same, err := sameContent(old, now, &d)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", d.Path, err)
			}
			a, b := d.old.Attr, d.now.Attr
			a.Mtime = b.Mtime
			switch {
			case same && a.Equal(&b):
				continue
			case same:
				d.Kind = Attributes
			}
		}
		kept = append(kept, d)
	}
	return kept, nil
}

// sameContent reports whether a file has the same content on both sides. It reads up to the first
// difference. A file that changes meanwhile differs.
func sameContent(old, now Side, d *File) (same bool, err error) {
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := old.copy(in, d.Path, d.old)
		done <- err
		_ = in.CloseWithError(err) // nil: the end
	}()
	w := &sameWriter{with: out}
	err = now.copy(w, d.Path, d.now)
	if err == nil && !w.differs {
		n, _ := io.Copy(io.Discard, io.LimitReader(out, 1)) // of a longer former content
		w.differs = n > 0
	}
	_ = out.CloseWithError(errEnough)
	failed := <-done
	switch {
	case w.differs, errors.Is(err, capture.ErrMoved), errors.Is(failed, capture.ErrMoved):
		return false, nil
	default:
		return err == nil && failed == nil, errors.Join(err, failed)
	}
}

// sameWriter compares what is written with what is read. At a difference, which it records, it returns
// errEnough.
type sameWriter struct {
	with    io.Reader
	buf     []byte
	differs bool
}

func (s *sameWriter) Write(b []byte) (int, error) {
	s.buf = slices.Grow(s.buf[:0], len(b))[:len(b)]
	if _, err := io.ReadFull(s.with, s.buf); err != nil || !bytes.Equal(s.buf, b) {
		s.differs = true
		return 0, errEnough
	}
	return len(b), nil
}

// diffKind returns "" for changes that aren't reported.
func diffKind(c band.Change, old, now band.Loader) (Kind, error) {
	switch c.Kind {
	case band.Modified:
		return Modified, nil
	case band.TypeChanged:
		return Retyped, nil
	case band.AttributesChanged:
		a, b := c.Old.Attr, c.New.Attr
		a.Mtime = b.Mtime
		if a.Equal(&b) {
			return "", nil
		}
		return Attributes, nil
	case band.Added:
		return kindIfEmpty(now, c.New, Added)
	case band.Deleted:
		return kindIfEmpty(old, c.Old, Deleted)
	default:
		return "", nil
	}
}

// kindIfEmpty returns kind, or "" for a directory with entries: those are reported.
func kindIfEmpty(l band.Loader, e *band.Entry, kind Kind) (Kind, error) {
	if e.Kind == band.Unknown {
		return "", nil
	}
	if e.Kind != band.Dir {
		return kind, nil
	}
	d, err := band.LoadDir(l, e.Content)
	if err != nil || len(d.Entries) > 0 {
		return "", err
	}
	return kind, nil
}

// countLines counts the lines of the files, several at once.
func countLines(ctx context.Context, old, now Side, list []File, progress func(bands.Progress)) error {
	var wanted []*File
	at := bands.Progress{}
	for i := range list {
		d := &list[i]
		if len(list) > countedFiles && (d.Kind == Added || d.Kind == Deleted) {
			continue
		}
		wanted = append(wanted, d)
		at.Size += sizeOf(d.old) + sizeOf(d.now)
	}
	at.Total = int64(len(wanted))
	var reporting sync.Mutex // guards at
	done := func(d *File) {
		if progress == nil {
			return
		}
		reporting.Lock()
		defer reporting.Unlock()
		at.Done, at.Bytes = at.Done+1, at.Bytes+sizeOf(d.old)+sizeOf(d.now)
		progress(at)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(runtime.NumCPU(), 2))
	var heavy sync.Mutex
	for _, d := range wanted {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if sizeOf(d.old)+sizeOf(d.now) > heavyText {
				heavy.Lock()
				defer heavy.Unlock()
			}
			defer done(d)
			return d.count(old, now)
		})
	}
	return group.Wait()
}

func (d *File) count(old, now Side) error {
	if d.Kind == Retyped || band.IsDir(d.old) || band.IsDir(d.now) {
		return nil
	}
	if d.Kind == Attributes || d.Kind == Renamed && d.old.Content.Hash == d.now.Content.Hash {
		d.Counted = true
		return nil
	}
	a, b, ok, err := d.texts(old, now)
	if errors.Is(err, capture.ErrMoved) {
		d.Unread = true
		return nil
	}
	if err != nil || !ok {
		return err
	}
	d.Counted = true
	d.Added, d.Removed = linediff.Totals(linediff.Compare(a, b, linediff.Thorough))
	return nil
}

// texts returns the contents on both sides; false if they can't be compared by lines.
func (d *File) texts(old, now Side) (a, b string, ok bool, err error) {
	oldPath := cmp.Or(d.OldPath, d.Path)
	limit := countable + 1
	large := sizeOf(d.old) > countable || sizeOf(d.now) > countable
	if large {
		limit = binaryHead
	}
	x, err := old.read(oldPath, d.old, limit)
	if err != nil {
		return "", "", false, fmt.Errorf("compare %s: %w", oldPath, err)
	}
	y, err := now.read(d.Path, d.now, limit)
	if err != nil {
		return "", "", false, fmt.Errorf("compare %s: %w", d.Path, err)
	}
	d.Binary = isBinary(x) || isBinary(y)
	if d.Binary || large || len(x) > countable || len(y) > countable {
		return "", "", false, nil
	}
	return string(x), string(y), true, nil
}

func sizeOf(e *band.Entry) int64 {
	if e == nil {
		return 0
	}
	return e.Size
}

func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), binaryHead)], 0) >= 0 }
