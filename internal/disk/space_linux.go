package disk

import (
	"bufio"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// SpaceAt returns the space of the file system that holds the directory dir.
func SpaceAt(dir string) (Space, error) {
	var st unix.Statfs_t
	if err := IgnoreEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return Space{}, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	block := int64(st.Frsize) //nolint:unconvert // 32 bits on some processors
	if block == 0 {
		block = int64(st.Bsize) //nolint:unconvert // 32 bits on some processors
	}
	s := Space{Total: int64(st.Blocks) * block, Free: int64(st.Bavail) * block}
	s.Type, s.Network = kindOf(uint32(st.Type))
	if s.Type != "" {
		return s, nil
	}
	// The names of FUSE and rare file systems are in the mount table.
	s.Type = mountedAs(dir)
	switch s.Type {
	case "ext2", "ext3", "ext4", "jfs", "reiserfs", "nilfs2", "minix", "ubifs", "jffs2", "squashfs", "erofs",
		"hfs", "hfsplus", "apfs", "ntfs", "ntfs3", "fuseblk", "ecryptfs", "iso9660", "udf", "ramfs", "rootfs":
	default: // it may change independently of this system
		s.Network = true
	}
	return s, nil
}

// kindOf returns the name of the file system with a statfs(2) magic number; "" for
// an unknown one.
func kindOf(magic uint32) (name string, network bool) {
	switch magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4", false
	case unix.XFS_SUPER_MAGIC:
		return "xfs", false
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs", false
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
		return "tmpfs", false
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay", false
	case unix.F2FS_SUPER_MAGIC:
		return "f2fs", false
	case unix.MSDOS_SUPER_MAGIC:
		return "vfat", false
	case unix.EXFAT_SUPER_MAGIC:
		return "exfat", false
	case 0x2fc12fc1:
		return "zfs", false
	case 0xca451a4e:
		return "bcachefs", false
	case unix.NFS_SUPER_MAGIC:
		return "nfs", true
	case unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.SMB_SUPER_MAGIC:
		return "cifs", true
	case unix.V9FS_MAGIC:
		return "9p", true
	case unix.CEPH_SUPER_MAGIC:
		return "ceph", true
	}
	return "", false
}

// mountedAs returns the type of the file system of dir from the mount table, or "" if it isn't
// listed.
func mountedAs(dir string) string {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_MNT_ID, &st); err != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return ""
	}
	table, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer func() { _ = table.Close() }()
	id := strconv.FormatUint(st.Mnt_id, 10) + " "
	for lines := bufio.NewScanner(table); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), id) {
			continue
		}
		// Any number of fields, " - ", the type, ...
		_, rest, _ := strings.Cut(lines.Text(), " - ")
		name, _, _ := strings.Cut(rest, " ")
		return name
	}
	return ""
}
