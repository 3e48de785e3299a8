package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// Exchange gives each of two files or directories of one file system the other's place, in
// one step.
func Exchange(a, b string) error {
	if err := Step("exchange", a); err != nil {
		return err
	}
	if err := unix.RenamexNp(a, b, unix.RENAME_SWAP); err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
