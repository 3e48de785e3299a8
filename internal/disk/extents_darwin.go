package disk

import (
	"errors"
	"os"
)

// Extents always fails with errors.ErrUnsupported.
func Extents(*os.File, func(Extent)) error { return errors.ErrUnsupported }
