package dirfd

import "errors"

func exchange(int, string, string) error { return errors.ErrUnsupported }
