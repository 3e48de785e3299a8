package shellcmd

import (
	"path/filepath"
	"strings"
)

// Files returns the absolute paths of the files that a command line run in cwd shows, as
// far as they can be derived from it: `cat f`, `sed -n 1,9p f`, `rg word f`.
func (l Line) Files(cwd string) []string {
	var paths []string
	for _, c := range l.commands {
		var args []string
		switch c.program() {
		case "cd":
			cwd = ResolvePath(c.argument(0), cwd)
		case "cat", "head", "tail", "less", "more", "nl", "bat":
			args = c.arguments()
		case "sed":
			if !strings.Contains(" "+strings.Join(c.words, " "), " -i") {
				args = c.arguments()
				args = args[min(1, len(args)):]
			}
		case "rg", "grep", "egrep", "ag":
			args = c.arguments()
			args = args[min(1, len(args)):]
		}
		for _, arg := range args {
			if path := ResolvePath(arg, cwd); path != "" && looksLikeFile(arg) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// looksLikeFile reports whether an argument is very probably a file name.
func looksLikeFile(arg string) bool {
	const longest = 512
	if len(arg) > longest || strings.ContainsAny(arg, "*?[]{}$`~<>|;&=,\"'\\^()\n") || strings.Contains(arg, "://") {
		return false
	}
	ext := filepath.Ext(arg)
	switch base := filepath.Base(arg); {
	case base == "Makefile", base == "Dockerfile", base == "LICENSE", base == "README", base == "Justfile":
		return true
	case len(ext) < 2, len(ext) > 11, isNumber(ext[1:]), ext == base && strings.Count(arg, "/") == 0 && len(ext) < 4:
		return false
	}
	return strings.Trim(ext[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// ResolvePath returns the absolute form of a path relative to dir, or "" if that needs a
// shell or dir is not absolute.
func ResolvePath(path, dir string) string {
	switch {
	case path == "", strings.ContainsAny(path, "$~"):
		return ""
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case !filepath.IsAbs(dir):
		return ""
	}
	return filepath.Join(dir, path)
}
