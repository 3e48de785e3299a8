package band

import "strings"

// ShownPath returns the path, or "." for the root.
func ShownPath(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// BasePath returns the last name of a path.
func BasePath(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// ParentPath returns the directory of a path from the root; "" is the root.
func ParentPath(p string) string {
	return p[:max(strings.LastIndexByte(p, '/'), 0)]
}

// JoinPath returns the path of a name in a directory; "" is the root.
func JoinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
