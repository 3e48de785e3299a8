package git

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packedSorted is in the header of packed-refs if its refs are sorted by name, as all versions of
// git since 2.16 write them.
const packedSorted = " sorted "

// maxUnsortedRefs is the maximum size of packed-refs whose refs are not sorted that is read here.
const maxUnsortedRefs = 1 << 20

// packedRef returns the value of a ref in packed-refs, or ErrMissing. It reads a few blocks of a
// sorted file, whatever its size. The error is errAskGit if only git can read the file.
func (f refFiles) packedRef(name string) (oid OID, err error) {
	err = f.packedFrom(name, func(ref Ref) bool {
		if ref.Name == name {
			oid = ref.OID
		}
		return false
	})
	if err == nil && oid == "" {
		err = ErrMissing
	}
	return oid, err
}

// packedBelow calls yield for each ref in packed-refs whose name begins with prefix, in order, until
// it returns false.
func (f refFiles) packedBelow(prefix string, yield func(Ref) bool) error {
	return f.packedFrom(prefix, func(ref Ref) bool {
		return strings.HasPrefix(ref.Name, prefix) && yield(ref)
	})
}

// packedFrom calls yield for the refs in packed-refs whose names are not less than first, in order,
// until it returns false.
func (f refFiles) packedFrom(first string, yield func(Ref) bool) error {
	file, err := os.Open(filepath.Join(f.commonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return errAskGit
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return errAskGit
	}
	header, _, err := lineFrom(file, 0, info.Size())
	if err != nil {
		return errAskGit
	}
	if !bytes.HasPrefix(header, []byte("# pack-refs with:")) || !bytes.Contains(header, []byte(packedSorted)) {
		return f.unsortedFrom(file, info.Size(), first, yield)
	}
	// The line that begins at or after low is the first that may be one of those; no line that begins
	// before high is.
	low, high := int64(len(header)), info.Size()
	for low < high {
		line, at, err := lineFrom(file, (low+high)/2, high) //nolint:mnd // the middle
		if err != nil {
			return errAskGit
		}
		switch ref, ok := f.packedLine(line); {
		case at >= high:
			high = (low + high) / 2 //nolint:mnd // as above
		case !ok:
			return errAskGit
		case ref.Name < first:
			low = at + int64(len(line))
		default:
			high = (low + high) / 2 //nolint:mnd // as above
		}
	}
	lines := bufio.NewReader(io.NewSectionReader(file, low, info.Size()-low))
	for {
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case err != nil:
			return errAskGit
		case line[0] == '^': // the object of a tag
			continue
		}
		ref, ok := f.packedLine(line)
		if !ok {
			return errAskGit
		}
		if ref.Name >= first && !yield(ref) {
			return nil
		}
	}
}

// unsortedFrom is packedFrom for a file whose refs are not sorted.
func (f refFiles) unsortedFrom(file io.ReaderAt, size int64, first string, yield func(Ref) bool) error {
	if size > maxUnsortedRefs {
		return errAskGit
	}
	data, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if err != nil {
		return errAskGit
	}
	var refs []Ref
	for line := range bytes.Lines(data) {
		if line[0] == '#' || line[0] == '^' {
			continue
		}
		ref, ok := f.packedLine(line)
		if !ok {
			return errAskGit
		}
		if ref.Name >= first {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	for _, ref := range refs {
		if !yield(ref) {
			return nil
		}
	}
	return nil
}

// packedLine parses the line of a ref.
func (f refFiles) packedLine(line []byte) (Ref, bool) {
	oid, name, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	return Ref{Name: name, OID: OID(oid)}, ok && f.format.Valid(OID(oid))
}

// lineFrom returns the first line of a ref that begins at or after the offset from, and where it
// begins: end if there is none before. Lines with the objects of tags are skipped.
func lineFrom(file io.ReaderAt, from, end int64) (line []byte, at int64, err error) {
	const block = 512
	at = from
	if from > 0 {
		at-- // a line may begin at from
	}
	section := bufio.NewReaderSize(io.NewSectionReader(file, at, end-at), block)
	if from > 0 {
		skipped, err := section.ReadBytes('\n')
		if err != nil {
			return nil, end, eofIsNone(err)
		}
		at += int64(len(skipped))
	}
	for {
		line, err := section.ReadBytes('\n')
		switch {
		case err != nil:
			return nil, end, eofIsNone(err)
		case line[0] != '^':
			return line, at, nil
		}
		at += int64(len(line))
	}
}

func eofIsNone(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read packed-refs: %w", err)
}

// refsBelow lists the refs below a prefix that ends at a slash, in order. Unlike git it doesn't check
// that their objects exist, and it reads only the prefix's part of packed-refs. The error is errAskGit
// if only git can list them.
func (f refFiles) refsBelow(prefix string) ([]Ref, error) {
	if f.storage != "files" || !isSharedRef(prefix+"x") {
		return nil, errAskGit
	}
	var refs []Ref
	var loose []string
	root := filepath.Join(f.commonDir, filepath.FromSlash(prefix))
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return errAskGit
		case e.IsDir() || strings.HasSuffix(path, ".lock"):
			return nil
		}
		rel, err := filepath.Rel(f.commonDir, path)
		loose = append(loose, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return nil, errAskGit
	}
	seen := make(map[string]bool, len(loose))
	for _, name := range loose {
		if !isSharedRef(name) {
			continue
		}
		oid, err := f.resolve(name)
		if errors.Is(err, ErrMissing) {
			continue
		}
		if err != nil {
			return nil, errAskGit
		}
		seen[name], refs = true, append(refs, Ref{Name: name, OID: oid})
	}
	// Git packs a ref before it removes the loose one.
	err = f.packedBelow(prefix, func(ref Ref) bool {
		if !seen[ref.Name] {
			refs = append(refs, ref)
		}
		return true
	})
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	return refs, err
}
