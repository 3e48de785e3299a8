//go:build !linux && !darwin

package disk

import (
	"errors"
	"os"
)

// ListXattrs returns the extended attributes of an open file: none here.
func ListXattrs(*os.File) ([]Xattr, error) { return nil, nil }

// Xattrs is ListXattrs of the directory itself.
func (d *DirFD) Xattrs() ([]Xattr, error) { return nil, nil }

// LinkXattrs is ListXattrs of the file at path.
func LinkXattrs(string) ([]Xattr, error) { return nil, nil }

// SetXattr sets an extended attribute: not on this system.
func SetXattr(*os.File, string, []byte) error { return errors.ErrUnsupported }

// SetXattr sets an extended attribute of the directory itself.
func (d *DirFD) SetXattr(string, []byte) error { return errors.ErrUnsupported }

// SetLinkXattr sets one of the file at path.
func SetLinkXattr(_, _ string, _ []byte) error { return errors.ErrUnsupported }

// RemoveXattr removes an extended attribute: there is none.
func RemoveXattr(*os.File, string) error { return nil }

// RemoveXattr removes an extended attribute of the directory itself.
func (d *DirFD) RemoveXattr(string) error { return nil }

// RemoveLinkXattr removes one of the file at path.
func RemoveLinkXattr(_, _ string) error { return nil }

// EntryXattrs is ListXattrs of the entry name.
func (d *DirFD) EntryXattrs(string) ([]Xattr, error) { return nil, nil }

// SetEntryXattr sets one of the entry name.
func (d *DirFD) SetEntryXattr(_, _ string, _ []byte) error { return errors.ErrUnsupported }

// RemoveEntryXattr removes one of the entry name.
func (d *DirFD) RemoveEntryXattr(_, _ string) error { return nil }
