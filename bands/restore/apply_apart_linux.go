package restore

import (
	"os"

	"golang.org/x/sys/unix"
)

// topDirectory is ext4's flag for directories whose subdirectories are spread.
const topDirectory = 0x20000

// spreads makes ext4 spread the subdirectories of a directory over the disk. It returns false on
// other file systems, and if the flag can't be set.
func spreads(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() { _ = f.Close() }()
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil || fs.Type != unix.EXT4_SUPER_MAGIC {
		return false
	}
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	return err == nil && unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags|topDirectory)) == nil
}
