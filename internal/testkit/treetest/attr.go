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

// dataOf are the parts of a file that are no hole, as offset+length, and ""
// for a file without holes. A hole of the last bytes counts.
func dataOf(full string, size int64) (string, error) {
	f, err := os.Open(full)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	var b strings.Builder
	var data int64
	for at := int64(0); at < size; {
		start, err := f.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break // only a hole is left
		}
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
			return "", nil // no holes here
		}
		if err != nil {
			return "", fmt.Errorf("find data: %w", err)
		}
		end, err := f.Seek(start, unix.SEEK_HOLE)
		if err != nil {
			return "", fmt.Errorf("find a hole: %w", err)
		}
		end = min(end, size)
		fmt.Fprintf(&b, "%d+%d ", start, end-start)
		data += end - start
		at = end
	}
	if data == size {
		return "", nil
	}
	return "data " + b.String(), nil
}
