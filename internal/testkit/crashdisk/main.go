//go:build linux

// Crashdisk serves a disk image as a file, and logs each write and each flush, so that a test can
// make the images that a power cut may leave. A loop device on that file is the disk. It is a FUSE
// file system of one file, as no other way to observe a disk's flushes is in every kernel.
//
//	crashdisk IMAGE FILE LOG
//
// FILE is an existing file, over which the image is mounted. A line on standard output reports that
// the mount is complete. Crashdisk exits when FILE is unmounted, and unmounts FILE when standard
// input ends. Package disklog reads the log.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: crashdisk IMAGE FILE LOG")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "crashdisk:", err)
		os.Exit(1)
	}
}

func run(imagePath, target, logPath string) error {
	image, err := os.OpenFile(imagePath, os.O_RDWR, 0) //nolint:gosec // the test names it
	if err != nil {
		return err
	}
	info, err := image.Stat()
	if err != nil {
		return err
	}
	log, err := os.Create(logPath) //nolint:gosec // the test names it
	if err != nil {
		return err
	}
	device, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/fuse: %w", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d", device, unix.S_IFREG, os.Getuid(), os.Getgid())
	if err := unix.Mount("crashdisk", target, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = unix.Unmount(target, unix.MNT_DETACH)
	}()
	fmt.Println("mounted")
	s := server{device: device, image: image, size: info.Size(), log: testkit.DiskLogWriter{W: bufio.NewWriterSize(log, 1<<20)}}
	return errors.Join(s.serve(), log.Close())
}
