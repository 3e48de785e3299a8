package treetest

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// xattrs reads the extended attributes of the path itself, except those that the system sets. It
// returns nil if there are none.
func xattrs(full string) (map[string]string, error) {
	size, err := unix.Llistxattr(full, nil)
	if size == 0 || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) {
		return nil, nil //nolint:nilnil // none is no error
	}
	if err != nil {
		return nil, fmt.Errorf("list attributes: %w", err)
	}
	list := make([]byte, size)
	if size, err = unix.Llistxattr(full, list); err != nil {
		return nil, fmt.Errorf("list attributes: %w", err)
	}
	var found map[string]string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list[:size]), "\x00"), "\x00") {
		if name == "security.selinux" || name == "com.apple.provenance" {
			continue
		}
		value, err := xattr(full, name)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		if found == nil {
			found = map[string]string{}
		}
		found[name] = value
	}
	return found, nil
}

func xattr(full, name string) (string, error) {
	size, err := unix.Lgetxattr(full, name, nil)
	if err != nil {
		return "", err
	}
	value := make([]byte, size+1) // one more byte, as a call with none returns the size
	if size, err = unix.Lgetxattr(full, name, value); err != nil {
		return "", err
	}
	return string(value[:size]), nil
}

// block is the minimum allocation of a file system.
const block = 4096

// smallHoles is the maximum total size of a file's holes that may go undetected: a snapshot detects
// holes by the file's allocated size, which includes the blocks of its attributes and extents.
const smallHoles = 2 * block

// dataOf returns the parts of a file that aren't holes, as offset+length in whole blocks; "" for a
// file without holes, or with small ones only. A hole of less than a block at the end counts as
// data.
func dataOf(full string, size int64) (string, error) {
	f, err := os.Open(full)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	var b strings.Builder
	holes := int64(0)
	first, last := int64(0), int64(0) // of the present part
	for at := int64(0); at < size; {
		start, err := f.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			if last > first && size-last < block {
				last = size
			}
			holes += size - last // the rest is a hole
			break
		}
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
			return "", nil // not supported here
		}
		if err != nil {
			return "", fmt.Errorf("find data: %w", err)
		}
		if at, err = f.Seek(start, unix.SEEK_HOLE); err != nil {
			return "", fmt.Errorf("find a hole: %w", err)
		}
		if start -= start % block; start > last {
			note(&b, first, last)
			holes, first = holes+start-last, start
		}
		last = min(at+block-1-(at+block-1)%block, size)
	}
	if holes <= smallHoles {
		return "", nil
	}
	note(&b, first, last)
	return "data " + b.String(), nil
}

func note(b *strings.Builder, first, last int64) {
	if last > first {
		fmt.Fprintf(b, "%d+%d ", first, last-first)
	}
}
