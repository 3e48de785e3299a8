package tree

import "strings"

// ShownPath is the root as ".".
func ShownPath(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// BasePath is the last name of a path.
func BasePath(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// ParentPath is the directory of a path from the root; "" is the root.
func ParentPath(p string) string {
	return p[:max(strings.LastIndexByte(p, '/'), 0)]
}

// JoinPath is the path of a name in a directory; "" is the root.
func JoinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
