package tree

import (
	"bytes"
	"slices"
)

func SameAttr(a, b *Attr) bool {
	return a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && a.Mtime.Equal(b.Mtime) && SameXattrs(a.Xattrs, b.Xattrs)
}

func SameXattrs(a, b []Xattr) bool {
	return slices.EqualFunc(a, b, func(x, y Xattr) bool { return x.Name == y.Name && bytes.Equal(x.Value, y.Value) })
}
