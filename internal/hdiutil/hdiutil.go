// Package hdiutil makes, attaches and detaches sparse bundles of macOS with the program hdiutil. A
// sparse bundle is a directory. Its file system is in the files of its directory bands, each of
// which holds one part. On other systems the functions work with any program of that name on the
// PATH, such as the one that tests use.
package hdiutil

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// ErrBusy means that processes use the volume to be detached.
var ErrBusy = errors.New("resource busy")

// Parts of a bundle.
const (
	InfoFile    = "Info.plist"
	TokenFile   = "token"
	BandsFolder = "bands"
)

// Image is an attached disk image.
type Image struct {
	Path   string   // of the bundle
	Mounts []string // mount points of its file systems
}

// Access is the access mode of an image.
type Access int

// The kinds of access.
const (
	ReadWrite Access = iota
	ReadOnly
)

// Available returns an error if hdiutil can't be used, such as proc.ErrNoProgram.
func Available(ctx context.Context) error {
	_, err := Images(ctx)
	return err
}

// Create makes a bundle with an empty APFS of that name. size is in bytes, rounded down to MiB.
func Create(ctx context.Context, bundle, name string, size int64) error {
	const mega, giga = 1 << 20, 1 << 30
	text := fmt.Sprintf("%dm", size/mega)
	if size%giga == 0 {
		text = fmt.Sprintf("%dG", size/giga)
	}
	if err := disk.Step("hdiutil create", bundle); err != nil {
		return err
	}
	_, err := run(ctx, "create", "-quiet", "-size", text, "-type", "SPARSEBUNDLE", "-fs", "APFS", "-volname", name, bundle)
	return err
}

// Attach mounts a bundle on the directory at, and respects the owners of its files.
func Attach(ctx context.Context, bundle, at string, access Access) error {
	args := []string{"attach", bundle, "-quiet", "-mountpoint", at, "-nobrowse", "-owners", "on"}
	if access == ReadOnly {
		args = append(args, "-readonly")
	}
	if err := disk.Step("hdiutil attach", at); err != nil {
		return err
	}
	_, err := run(ctx, args...)
	return err
}

// Detach unmounts the directory at. The error is ErrBusy if processes use it, unless force.
func Detach(ctx context.Context, at string, force bool) error {
	args := []string{"detach", at, "-quiet"}
	if force {
		args = append(args, "-force")
	}
	if err := disk.Step("hdiutil detach", at); err != nil {
		return err
	}
	_, err := run(ctx, args...)
	if failed, ok := errors.AsType[*proc.ExitError](err); ok && (failed.Code == busyStatus || strings.Contains(failed.Stderr, "busy")) {
		return fmt.Errorf("%s: %w", at, ErrBusy)
	}
	return err
}

// busyStatus is the exit status of detach if processes use the volume: EBUSY.
const busyStatus = 16

// Images returns the attached images.
func Images(ctx context.Context) ([]Image, error) {
	out, err := run(ctx, "info", "-plist")
	if err != nil {
		return nil, err
	}
	value, err := parsePlist(bytes.NewReader(out))
	if err != nil {
		return nil, fmt.Errorf("hdiutil info: %w", err)
	}
	var list []Image
	for _, entry := range listOf(dictOf(value)["images"]) {
		is := dictOf(entry)
		image := Image{Path: stringOf(is["image-path"])}
		for _, part := range listOf(is["system-entities"]) {
			if at := stringOf(dictOf(part)["mount-point"]); at != "" {
				image.Mounts = append(image.Mounts, at)
			}
		}
		list = append(list, image)
	}
	return list, nil
}

// Size returns the maximum size of the file system in a bundle, in bytes.
func Size(bundle string) (int64, error) {
	path := filepath.Join(bundle, InfoFile)
	data, err := disk.ReadFile(path)
	if err != nil {
		return 0, err
	}
	value, err := parsePlist(bytes.NewReader(data))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	size, ok := dictOf(value)["size"].(int64)
	if !ok {
		return 0, fmt.Errorf("%s has no size", path)
	}
	return size, nil
}

// callLimit bounds the time of a call: one that hangs must not hold a lock forever.
const callLimit = 2 * time.Minute

// run runs hdiutil; on macOS it is the system's own.
func run(ctx context.Context, args ...string) ([]byte, error) {
	const outputLimit = 4 << 20
	program, path := "hdiutil", os.Getenv("PATH")
	if runtime.GOOS == "darwin" {
		program, path = "/usr/bin/hdiutil", "/usr/bin:/bin:/usr/sbin:/sbin"
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	return proc.Run{Path: program, Args: args, Dir: "/", Env: []string{"PATH=" + path, "LC_ALL=C"}, Limit: outputLimit}.Output(ctx)
}
