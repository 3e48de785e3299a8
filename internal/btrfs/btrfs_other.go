//go:build !linux

package btrfs

// IsSubvolume reports whether a subvolume is at path.
func IsSubvolume(string) bool { return false }

// Create makes an empty subvolume at path.
func Create(string) error { return ErrNotBtrfs }

// Snapshot makes a snapshot of the subvolume from at the path to.
func Snapshot(_, _ string, _ Mode) error { return ErrNotBtrfs }

// SetMode makes the subvolume at path read-only or writable.
func SetMode(string, Mode) error { return ErrNotBtrfs }

// GetMode returns whether the subvolume at path is read-only.
func GetMode(string) (Mode, error) { return 0, ErrNotBtrfs }

// Remove removes the subvolume at path with all that is in it.
func Remove(string) error { return ErrNotBtrfs }

// Stat describes the subvolume at path.
func Stat(string) (Info, error) { return Info{}, ErrNotBtrfs }

// Nested are the paths, from the subvolume at path, of those that are in it.
func Nested(string) ([]string, error) { return nil, ErrNotBtrfs }

// Sync waits until the file system of path has all its changes on the disk.
func Sync(string) error { return ErrNotBtrfs }

// Diverged returns the last transaction in which two subvolumes were the same.
func Diverged(_, _ string) (last uint64, known bool, err error) { return 0, false, ErrNotBtrfs }

// Touched are the paths that have changed in the directory at path.
func Touched(string, uint64, int) (files, dirs []string, err error) { return nil, nil, ErrNotBtrfs }

// Commit waits until all that was changed is in the file system's trees.
func Commit(string) (transaction uint64, err error) { return 0, ErrNotBtrfs }

// MayAsk reports whether this process may call Touched and Diverged.
func MayAsk(string) bool { return false }
