package bands

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
)

// IgnoresCase reports whether the file system of a directory ignores the case of names. It looks
// for an entry that can be found under another case without being a separate entry. If no entry
// is suitable, the directory's own name is tried. If that has no letters either, the usual
// behavior of the operating system is assumed.
func IgnoresCase(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err == nil {
		names := map[string]bool{}
		for _, e := range entries {
			names[e.Name()] = true
		}
		for name := range names {
			other := otherCase(name)
			if other == name || names[other] {
				continue
			}
			return sameEntry(filepath.Join(dir, name), filepath.Join(dir, other))
		}
	}
	if name := filepath.Base(dir); otherCase(name) != name {
		return sameEntry(dir, filepath.Join(filepath.Dir(dir), otherCase(name)))
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows"
}

func sameEntry(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}

// otherCase returns the name with the case of its ASCII letters inverted.
func otherCase(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c > unicode.MaxASCII:
			return c
		case unicode.IsUpper(c):
			return unicode.ToLower(c)
		default:
			return unicode.ToUpper(c)
		}
	}, name)
}
