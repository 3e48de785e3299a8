package dirfd

import "golang.org/x/sys/unix"

const errNoXattr = unix.ENOATTR
