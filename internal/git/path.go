package git

import (
	"strings"
	"unicode/utf8"
)

// Rel converts a path, absolute or relative to where discovery began, to a slash path below Root,
// as disk.Resolver does. The result is false for Root itself and for paths outside of it or in a
// .git.
func (r *Repo) Rel(path string) (string, bool) {
	if r.Root == "" {
		return "", false
	}
	rel, ok := r.paths.Rel(path)
	if !ok || rel == "." {
		return "", false
	}
	for name := range strings.SplitSeq(rel, "/") {
		if isDotGit(name) {
			return "", false
		}
	}
	return rel, true
}

// ValidPath reports whether git accepts path in a tree: relative, with slashes, no empty element,
// no "." or "..", and no .git in any spelling that some file system treats as .git.
func ValidPath(path string) bool {
	if path == "" {
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		if !ValidName(name) {
			return false
		}
	}
	return true
}

// ValidName reports whether git accepts name in a tree, as the name of one entry.
func ValidName(name string) bool {
	return name != "" && name != "." && name != ".." &&
		strings.IndexByte(name, 0) < 0 && strings.IndexByte(name, '/') < 0 && !isDotGit(name)
}

// isDotGit reports whether name is .git in any case, with characters that NTFS drops at its end or
// HFS+ drops anywhere. Git refuses all of them.
func isDotGit(name string) bool {
	if !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "g") &&
		!strings.HasPrefix(name, "G") && (name == "" || name[0] < utf8.RuneSelf) {
		return false
	}
	if i := strings.IndexAny(name, ":\\"); i >= 0 {
		name = name[:i]
	}
	ntfs := strings.TrimRight(name, " .")
	if strings.EqualFold(ntfs, ".git") || strings.EqualFold(ntfs, "git~1") {
		return true
	}
	// HFS+ ignores some characters in a name.
	visible := strings.Map(func(c rune) rune {
		switch {
		case c >= 0x200c && c <= 0x200f, c >= 0x202a && c <= 0x202e, c >= 0x206a && c <= 0x206f, c == 0xfeff:
			return -1
		}
		return c
	}, name)
	return strings.EqualFold(visible, ".git")
}
