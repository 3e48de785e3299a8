package tree

import (
	"strings"
)

// ParentPath is the directory of a path from the root; "" is the root.
func ParentPath(p string) string {
	return p[:max(strings.LastIndexByte(p, '/'), 0)]
}

func JoinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
