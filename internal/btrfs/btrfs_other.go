//go:build !linux

package btrfs

// IsSubvolume reports whether path is a subvolume.
func IsSubvolume(string) bool { return false }

// Create makes an empty subvolume at path.
func Create(string) error { return ErrNotBtrfs }

// Snapshot makes a snapshot of the subvolume from at the path to.
func Snapshot(_, _ string, _ Mode) error { return ErrNotBtrfs }

// SetMode makes the subvolume at path read-only or writable.
func SetMode(string, Mode) error { return ErrNotBtrfs }

// GetMode returns the mode of the subvolume at path.
func GetMode(string) (Mode, error) { return 0, ErrNotBtrfs }

// Remove removes the subvolume at path with its contents.
func Remove(string) error { return ErrNotBtrfs }

// Stat describes the subvolume at path.
func Stat(string) (Info, error) { return Info{}, ErrNotBtrfs }

// Nested returns the paths of the subvolumes inside the one at path.
func Nested(string) ([]string, error) { return nil, ErrNotBtrfs }

// Sync syncs the file system of path.
func Sync(string) error { return ErrNotBtrfs }

// Diverged returns the last transaction in which two subvolumes were identical.
func Diverged(_, _ string) (last uint64, known bool, err error) { return 0, false, ErrNotBtrfs }

// Touched returns the changed paths in the directory at path.
func Touched(string, uint64, int) (files, dirs []string, err error) { return nil, nil, ErrNotBtrfs }

// Commit waits until all changes are in the file system's trees.
func Commit(string) (transaction uint64, err error) { return 0, ErrNotBtrfs }

// MayAsk reports whether this process may call Touched and Diverged.
func MayAsk(string) bool { return false }
