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

// Linking is a way to make a file's content available at a second path.
type Linking string

// The ways, best first.
const (
	// Reflink makes a new file that shares its blocks with the old one until one of them is written
	// to.
	Reflink Linking = "reflink"
	// Hardlink adds another name for the file.
	Hardlink Linking = "hard link"
	// Copy copies the bytes. It works everywhere.
	Copy Linking = "copy"
)

// LinkingAt returns the best way that the file system of the directory dir supports. It tries them
// with temporary files, which it removes.
func LinkingAt(dir string) (how Linking, err error) {
	if err := Step("create", filepath.Join(dir, tempMark)); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, tempMark+"*")
	if err != nil {
		return "", fmt.Errorf("try links in %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	// Some file systems can't clone a file without blocks.
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

// cannotLink reports whether the error means that a file can't be linked to that path, or can't
// have another link, though it can be copied there.
func cannotLink(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EMLINK) ||
		errors.Is(err, syscall.EXDEV) || errors.Is(err, fs.ErrPermission)
}

// LinkOrCopy makes dst, which must not exist, from the file src in the way how. If that isn't possible,
// it makes a copy.
func LinkOrCopy(how Linking, src, dst string) error {
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

// CloneFile makes dst, which must not exist, a reflink of src with its permissions. If that isn't
// possible, dst is not created and the error is errors.ErrUnsupported.
func CloneFile(src *os.File, dst string) error {
	if err := Step("clone", dst); err != nil {
		return err
	}
	if err := cloneFile(src, dst); err != nil {
		return fmt.Errorf("clone %s to %s: %w", src.Name(), dst, err)
	}
	return nil
}

// CopyFile makes dst, which must not exist, a copy of src with its permissions and holes. It does
// not sync dst.
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

// create makes dst with the permissions of src and calls fill. On an error it removes dst.
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

// Fill copies the content of src, with its holes, to the empty file dst. They share blocks if the
// file system supports it. It moves the offset of both.
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

// copySegments copies size bytes and preserves the holes of in.
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
		_, err := io.CopyN(out, in, n) // in the kernel if possible
		return err
	})
	if err != nil {
		return fmt.Errorf("copy %s to %s: %w", in.Name(), out.Name(), err)
	}
	return out.Truncate(size)
}
