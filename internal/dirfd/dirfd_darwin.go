package dirfd

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const (
	noAtime   = 0
	utimeOmit = -2 // UTIME_OMIT
)

// names is Dir.Names; it needs no buffer.
func names(d *Dir, _ []byte, yield func(name []byte, dtype byte) error) error {
	// A duplicated descriptor would share its offset, so the directory is opened again.
	fd, err := openat(d.fd, ".", unix.O_DIRECTORY)
	if err != nil {
		return &fs.PathError{Op: "readdir", Path: d.path, Err: err}
	}
	f := os.NewFile(uintptr(fd), d.path)
	entries, err := f.ReadDir(-1)
	_ = f.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := yield([]byte(e.Name()), dtype(e.Type())); err != nil {
			return err
		}
	}
	return nil
}

func dtype(mode fs.FileMode) byte {
	switch mode.Type() {
	case 0:
		return TypeRegular
	case fs.ModeDir:
		return TypeDir
	case fs.ModeSymlink:
		return TypeSymlink
	case fs.ModeNamedPipe:
		return TypeFIFO
	case fs.ModeSocket:
		return TypeSocket
	case fs.ModeDevice | fs.ModeCharDevice:
		return TypeChar
	case fs.ModeDevice:
		return TypeBlock
	default:
		return TypeUnknown
	}
}

func fill(st *unix.Stat_t, to *Stat) {
	*to = Stat{
		Dev: uint64(st.Dev), Ino: st.Ino, Nlink: uint64(st.Nlink),
		Mode: uint32(st.Mode), UID: st.Uid, GID: st.Gid,
		Size: st.Size, Blocks: st.Blocks, Rdev: uint64(st.Rdev),
	}
	to.setTimes(st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec)
}

func fchmodat(dir int, name string, mode uint32) error {
	return unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
}

// statAt fills to with the metadata of an entry.
func statAt(dir int, name string, to *Stat) error { return statByName(dir, name, to) }

// procPath returns "": the system has no paths through descriptors.
func procPath(int, string) string { return "" }

func exchange(int, string, string) error { return errors.ErrUnsupported }

const errNoXattr = unix.ENOATTR
