package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Linking is a way of giving a file's content a second place.
type Linking string

// The ways, best first.
const (
	// Reflink makes a new file that shares its blocks with the old one until
	// either is written to.
	Reflink Linking = "reflink"
	// Hardlink gives the file one more name.
	Hardlink Linking = "hard link"
	// Copy doubles the bytes. It works everywhere.
	Copy Linking = "copy"
)

// LinkingAt returns the best way that the file system of the directory dir
// supports. It tries them with temporary files, which it removes.
func LinkingAt(dir string) (how Linking, err error) {
	if err := Step("create", filepath.Join(dir, tempMark)); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, tempMark+"*")
	if err != nil {
		return "", fmt.Errorf("try links in %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	// Some file systems refuse to share the blocks of what has none.
	if _, err := f.Write(make([]byte, 4096)); err != nil {
		return "", fmt.Errorf("try links in %s: %w", dir, err)
	}
	second := f.Name() + ".link"
	for _, way := range []struct {
		how Linking
		try func() error
	}{
		{Reflink, func() error { return CloneFile(f, second) }},
		{Hardlink, func() error { return link(f.Name(), second) }},
	} {
		switch err := way.try(); {
		case err == nil:
			return way.how, os.Remove(second)
		case !cannotLink(err):
			return "", fmt.Errorf("try links in %s: %w", dir, err)
		}
	}
	return Copy, nil
}

// cannotLink reports whether the error means that a file can't be linked to that
// place, or not once more, though it can be copied there.
func cannotLink(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EMLINK) ||
		errors.Is(err, syscall.EXDEV) || errors.Is(err, fs.ErrPermission)
}

// Place makes dst, which must not be there, from the file src in the way how.
// Where that can't be, it is a copy.
func Place(how Linking, src, dst string) error {
	var err error
	switch how {
	case Hardlink:
		err = link(src, dst)
	case Reflink:
		var f *os.File
		if f, err = os.Open(src); err == nil {
			err = errors.Join(CloneFile(f, dst), f.Close())
		}
	default:
		return CopyFile(src, dst)
	}
	if err != nil && cannotLink(err) {
		return CopyFile(src, dst)
	}
	return err
}

func link(src, dst string) error {
	if err := Step("link", dst); err != nil {
		return err
	}
	return os.Link(src, dst)
}

// CloneFile makes dst, which must not be there, a reflink of src with its
// permissions. Where that can't be, there is no dst and the error is
// errors.ErrUnsupported.
func CloneFile(src *os.File, dst string) error {
	if err := Step("clone", dst); err != nil {
		return err
	}
	if err := cloneFile(src, dst); err != nil {
		return fmt.Errorf("clone %s to %s: %w", src.Name(), dst, err)
	}
	return nil
}

// CopyFile makes dst, which must not be there, a copy of src with its
// permissions and holes. It is not synced.
func CopyFile(src, dst string) (err error) {
	if err := Step("create", dst); err != nil {
		return err
	}
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return create(in, dst, func(out *os.File, info fs.FileInfo) error { return copySegments(out, in, info.Size()) })
}

// create makes dst with the permissions of src and fills it; what could not be
// filled is removed.
func create(src *os.File, dst string, fill func(out *os.File, info fs.FileInfo) error) (err error) {
	info, err := src.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(dst, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			err = errors.Join(err, os.Remove(dst))
		}
	}()
	if err := fill(out, info); err != nil {
		return err
	}
	return out.Chmod(info.Mode())
}

// Fill makes the content of the empty file dst that of src, with its holes. They share
// their blocks where the file system can do that. It moves the position of both.
func Fill(dst, src *os.File) error {
	if err := Clone(dst, src); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	info, err := src.Stat()
	if err != nil {
		return err
	}
	return copySegments(dst, src, info.Size())
}

// copySegments copies size bytes and leaves holes where in has them.
func copySegments(out, in *os.File, size int64) error {
	err := Segments(in, size, func(off, n int64, hole bool) error {
		if hole {
			return nil
		}
		if _, err := in.Seek(off, io.SeekStart); err != nil {
			return err
		}
		if _, err := out.Seek(off, io.SeekStart); err != nil {
			return err
		}
		_, err := io.CopyN(out, in, n) // in the kernel where it can
		return err
	})
	if err != nil {
		return fmt.Errorf("copy %s to %s: %w", in.Name(), out.Name(), err)
	}
	return out.Truncate(size)
}
