package disk

import "golang.org/x/sys/unix"

const errNoXattr = unix.ENODATA
