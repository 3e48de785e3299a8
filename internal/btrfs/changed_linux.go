package btrfs

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Requests of linux/btrfs.h that only root may make.
const (
	iocSearch  = 0xc0709411 // BTRFS_IOC_TREE_SEARCH_V2
	iocInoPath = 0xd0009412 // BTRFS_IOC_INO_LOOKUP
)

// The requests that start a commit, and wait for it.
const (
	iocStartSync = 0x80089418 // BTRFS_IOC_START_SYNC
	iocWaitSync  = 0x40089416 // BTRFS_IOC_WAIT_SYNC
)

// Trees, and the types of their items: linux/btrfs_tree.h.
const (
	rootTree = 1
	uuidTree = 9

	inodeItem     = 1
	inodeRef      = 12
	inodeExtref   = 13
	rootItem      = 132
	uuidSubvolume = 251

	lastInode = math.MaxUint64 - 255
)

// searchRoom is the size of the buffer for one search call, in bytes.
const searchRoom = 256 << 10

// itemKey is the key of an item in a tree; items are ordered by it.
type itemKey struct {
	object uint64
	kind   uint32
	offset uint64
}

// searchArgs is struct btrfs_ioctl_search_args_v2, with its buffer.
type searchArgs struct {
	tree                    uint64
	firstObject, lastObject uint64
	firstOffset, lastOffset uint64
	leastTrans, mostTrans   uint64
	firstKind, lastKind     uint32
	count                   uint32
	_                       uint32
	_                       [4]uint64
	size                    uint64
	buf                     [searchRoom]byte
}

// searcher searches trees of the file system that contains dir.
type searcher struct {
	dir  *os.File
	args searchArgs
}

// search calls visit with the items of a tree from first to last, skipping blocks that were last
// written before transaction since. Tree 0 is the tree of dir's subvolume.
func (s *searcher) search(tree uint64, first, last itemKey, since uint64, visit func(key itemKey, data []byte) error) error {
	args := &s.args
	args.tree, args.leastTrans, args.mostTrans = tree, since, math.MaxUint64
	args.lastObject, args.lastKind, args.lastOffset = last.object, last.kind, last.offset
	for {
		args.firstObject, args.firstKind, args.firstOffset = first.object, first.kind, first.offset
		args.count, args.size = math.MaxUint32, searchRoom
		if err := ioctl(s.dir, iocSearch, unsafe.Pointer(args)); err != nil { //nolint:gosec // the kernel's structure
			return err
		}
		if args.count == 0 {
			return nil
		}
		const header = 32 // struct btrfs_ioctl_search_header
		at := args.buf[:]
		for range args.count {
			first = itemKey{
				object: binary.NativeEndian.Uint64(at[8:]), offset: binary.NativeEndian.Uint64(at[16:]), kind: binary.NativeEndian.Uint32(at[24:]),
			}
			end := header + int(binary.NativeEndian.Uint32(at[28:]))
			if err := visit(first, at[header:end]); err != nil {
				return err
			}
			at = at[end:]
		}
		if first.offset++; first.offset == 0 {
			if first.kind++; first.kind > math.MaxUint8 {
				first.kind, first.object = 0, first.object+1
			}
		}
		if first.object > last.object {
			return nil
		}
	}
}

// errFound stops a search.
var errFound = errors.New("found")

// origin is a subvolume from which another one was made, and the transaction that made that one.
type origin struct {
	uuid [16]byte
	made uint64
}

// noUUID means no subvolume.
var noUUID [16]byte //nolint:gochecknoglobals // a constant

// origins returns the subvolume of dir, whose made is unset, and the chain of subvolumes that it
// was made from, as far as they still exist. The last one may have been removed.
func origins(dir *os.File) ([]origin, error) {
	var info infoArgs
	if err := ioctl(dir, iocInfo, unsafe.Pointer(&info)); err != nil { //nolint:gosec // the kernel's structure
		return nil, err
	}
	list := []origin{{uuid: info.uuid}}
	parent, made := info.parent, info.created
	s := &searcher{dir: dir}
	for parent != noUUID && !slices.ContainsFunc(list, func(o origin) bool { return o.uuid == parent }) {
		list = append(list, origin{parent, made})
		var found bool
		var err error
		if parent, made, found, err = parentOf(s, parent); err != nil {
			return nil, err
		}
		if !found {
			break
		}
	}
	return list, nil
}

// parentOf returns the subvolume from which the one with that UUID was made, and the transaction;
// found is false if the one with that UUID was removed.
func parentOf(s *searcher, uuid [16]byte) (parent [16]byte, made uint64, found bool, err error) {
	key := itemKey{object: binary.LittleEndian.Uint64(uuid[:8]), kind: uuidSubvolume, offset: binary.LittleEndian.Uint64(uuid[8:])}
	id := uint64(0)
	err = s.search(uuidTree, key, key, 0, func(_ itemKey, data []byte) error {
		id = binary.LittleEndian.Uint64(data)
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) || id == 0 {
		return parent, 0, false, err
	}
	first, last := itemKey{id, rootItem, 0}, itemKey{id, rootItem, math.MaxUint64}
	err = s.search(rootTree, first, last, 0, func(_ itemKey, data []byte) error {
		const parentAt, madeAt, length = 263, 303, 311 // in struct btrfs_root_item
		if len(data) < length {
			return fs.ErrInvalid
		}
		found, made = true, binary.LittleEndian.Uint64(data[madeAt:])
		copy(parent[:], data[parentAt:])
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return parent, made, found, err
}

// Diverged returns the last transaction in which the subvolumes at a and b were identical. known is
// false if it can't be determined: neither was made from the other nor both from a third one, or
// subvolumes between them were removed. Only root may call it.
func Diverged(a, b string) (last uint64, known bool, err error) {
	var chains [2][]origin
	for i, path := range []string{a, b} {
		dir, err := os.Open(path)
		if err != nil {
			return 0, false, err
		}
		chains[i], err = origins(dir)
		if err = errors.Join(explain("find the origin of", path, err), dir.Close()); err != nil {
			return 0, false, err
		}
	}
	for i, x := range chains[0] {
		for j, y := range chains[1] {
			if x.uuid != y.uuid {
				continue
			}
			last = math.MaxUint64
			if i > 0 {
				last = x.made
			}
			if j > 0 {
				last = min(last, y.made)
			}
			return last, true, nil
		}
	}
	return 0, false, nil
}

// Touched returns the paths, relative to the directory at path, of the files and the directories at
// or below it that a transaction after since has changed: contents, attributes, or the entries of a
// directory. Its cost depends on all changes in the subvolume of path. Changes that aren't on the
// disk yet are missed: call Sync or Commit first. A concurrent rename may be reported with either
// name. The error is ErrTooMany if more than most have changed. Only root may call it.
func Touched(path string, since uint64, most int) (files, dirs []string, err error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		_ = dir.Close()
		err = explain("find what has changed in", path, err)
	}()
	if since == math.MaxUint64 {
		return nil, nil, nil
	}
	t := touching{searcher: searcher{dir: dir}, names: map[uint64][]name{}, parents: map[uint64]string{}}
	var st unix.Stat_t
	if err := unix.Fstat(int(t.dir.Fd()), &st); err != nil {
		return nil, nil, err
	}
	top, err := t.path(st.Ino) // the path of dir in its subvolume
	if err != nil {
		return nil, nil, err
	}
	var changed, isDir []uint64
	first, last := itemKey{object: rootInode}, itemKey{lastInode, math.MaxUint32, math.MaxUint64}
	err = t.search(0, first, last, since+1, func(key itemKey, data []byte) error {
		const transAt, modeAt, length = 8, 52, 160 // in struct btrfs_inode_item
		if key.kind != inodeItem || len(data) < length || binary.LittleEndian.Uint64(data[transAt:]) <= since {
			return nil
		}
		if binary.LittleEndian.Uint32(data[modeAt:])&unix.S_IFMT == unix.S_IFDIR {
			isDir = append(isDir, key.object)
		} else {
			changed = append(changed, key.object)
		}
		if len(isDir)+len(changed) > most {
			return ErrTooMany
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, inode := range isDir {
		at, err := t.path(inode)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed, but still open
		case err != nil:
			return nil, nil, err
		case strings.HasPrefix(at, top):
			dirs = append(dirs, strings.TrimSuffix(at[len(top):], "/"))
		}
	}
	for _, inode := range changed {
		// Some or all names may be in an older block.
		delete(t.names, inode)
		first, last := itemKey{inode, inodeRef, 0}, itemKey{inode, inodeExtref, math.MaxUint64}
		if err := t.search(0, first, last, 0, t.addNames); err != nil {
			return nil, nil, err
		}
		for _, n := range t.names[inode] {
			above, err := t.path(n.dir)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, nil, err
			case strings.HasPrefix(above, top):
				files = append(files, above[len(top):]+n.name)
			}
		}
	}
	return files, dirs, nil
}

// name is an entry of a directory that names a file.
type name struct {
	dir  uint64
	name string
}

// touching is the state of one call of Touched.
type touching struct {
	searcher

	names map[uint64][]name
	// parents maps inode numbers of directories to their paths in the subvolume, which end with a
	// slash unless they are empty.
	parents map[uint64]string
}

// addNames adds the names of an inode.
func (t *touching) addNames(key itemKey, data []byte) error {
	const refHead, extrefHead = 10, 18 // struct btrfs_inode_ref, btrfs_inode_extref
	for len(data) > 0 {
		head, dir := refHead, key.offset
		if key.kind == inodeExtref {
			head, dir = extrefHead, binary.LittleEndian.Uint64(data)
		}
		if len(data) < head {
			return fs.ErrInvalid
		}
		end := head + int(binary.LittleEndian.Uint16(data[head-2:]))
		if len(data) < end {
			return fs.ErrInvalid
		}
		t.names[key.object] = append(t.names[key.object], name{dir, string(data[head:end])})
		data = data[end:]
	}
	return nil
}

// path returns the path of a directory in the subvolume by its inode number. It ends with a slash
// or is empty.
func (t *touching) path(inode uint64) (string, error) {
	if inode == rootInode {
		return "", nil
	}
	if at, known := t.parents[inode]; known {
		return at, nil
	}
	args := struct {
		tree, inode uint64
		name        [4080]byte
	}{inode: inode}
	if err := ioctl(t.dir, iocInoPath, unsafe.Pointer(&args)); err != nil { //nolint:gosec // the kernel's structure
		return "", err
	}
	at := unix.ByteSliceToString(args.name[:])
	t.parents[inode] = at
	return at, nil
}

// Commit waits until all changes of the file system of path are in its trees, on the disk, except
// for contents that the kernel has yet to write; a file with such contents counts as changed
// nevertheless. It returns the transaction: later changes belong to a later one.
func Commit(path string) (transaction uint64, err error) {
	if err := disk.Step("commit", path); err != nil {
		return 0, err
	}
	dir, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = dir.Close() }()
	if err = ioctl(dir, iocStartSync, unsafe.Pointer(&transaction)); err == nil { //nolint:gosec // the kernel's structure
		err = ioctl(dir, iocWaitSync, unsafe.Pointer(&transaction)) //nolint:gosec // the kernel's structure
	}
	return transaction, explain("commit", path, err)
}

// MayAsk reports whether this process may call Touched and Diverged for path.
func MayAsk(path string) bool {
	dir, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }()
	root := itemKey{object: rootInode, kind: inodeItem}
	s := &searcher{dir: dir}
	return s.search(0, root, root, 0, func(itemKey, []byte) error { return nil }) == nil
}
