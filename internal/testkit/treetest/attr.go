//go:build linux || darwin

package treetest

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// xattrs reads the extended attributes of a path itself, but for those that
// the system sets by itself. It is nil where there are none.
func xattrs(full string) (map[string]string, error) {
	size, err := unix.Llistxattr(full, nil)
	if size == 0 || noXattrs(err) {
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
	value := make([]byte, size+1) // one more: with none the size is asked for
	if size, err = unix.Lgetxattr(full, name, value); err != nil {
		return "", err
	}
	return string(value[:size]), nil
}

func noXattrs(err error) bool {
	return errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM)
}

// block is what a file system allocates at least.
const block = 4096

// dataOf are the parts of a file that are no hole, as offset+length in whole
// blocks, and "" for a file without holes. A hole at the end counts if it has a block.
func dataOf(full string, size int64) (string, error) {
	f, err := os.Open(full)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	var b strings.Builder
	holes := false
	first, last := int64(0), int64(0) // of the part at hand
	for at := int64(0); at < size; {
		start, err := f.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			holes = holes || size-last >= block // only a hole is left
			break
		}
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
			return "", nil // no holes here
		}
		if err != nil {
			return "", fmt.Errorf("find data: %w", err)
		}
		if at, err = f.Seek(start, unix.SEEK_HOLE); err != nil {
			return "", fmt.Errorf("find a hole: %w", err)
		}
		if start -= start % block; start > last {
			note(&b, first, last)
			holes, first = true, start
		}
		last = min(at+block-1-(at+block-1)%block, size)
	}
	if !holes {
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
