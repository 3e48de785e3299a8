package disk

import (
	"errors"
	"os"
)

// Extents calls visit with the stretches of a file that take room on the disk.
func Extents(*os.File, func(Extent)) error { return errors.ErrUnsupported }
