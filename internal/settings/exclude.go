package settings

import (
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// maxAlternatives bounds the patterns that the braces of one pattern stand for.
const maxAlternatives = 256

// expandPath returns an absolute path or pattern with slashes, after replacing a leading "~".
func expandPath(text, home string) (string, error) {
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		if home == "" {
			return "", errors.New("the home directory isn't known")
		}
		return path.Clean(filepath.ToSlash(home) + text[1:]), nil
	case !filepath.IsAbs(text):
		return "", errors.New("not an absolute path")
	}
	return path.Clean(filepath.ToSlash(text)), nil
}

// checkPath returns an error for a text that isn't an absolute path.
func checkPath(text string) error {
	_, err := expandPath(text, "/home")
	return err
}

func checkPathPattern(text string) error {
	pattern, err := expandPath(text, "/home")
	if err != nil {
		return err
	}
	return checkGlob(pattern)
}

func checkOriginPattern(text string) error {
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") {
		return errors.New("a path is not a remote")
	}
	return checkGlob(text)
}

func checkGlob(pattern string) error {
	all, err := alternatives(pattern)
	if err != nil {
		return err
	}
	for _, p := range all {
		for segment := range strings.SplitSeq(p, "/") {
			if _, err := path.Match(segment, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// alternatives returns the patterns without braces that together match what a pattern with braces, as
// "{a,b}/*", matches.
func alternatives(pattern string) ([]string, error) {
	open, depth, start := -1, 0, 0
	var parts []string
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; depth == 1 {
				open, start = i, i+1
			}
		case c == ',' && depth == 1:
			parts = append(parts, pattern[start:i])
			start = i + 1
		case c == '}' && depth > 0:
			if depth--; depth > 0 {
				continue
			}
			var all []string
			for _, part := range append(parts, pattern[start:i]) {
				more, err := alternatives(pattern[:open] + part + pattern[i+1:])
				if err != nil {
					return nil, err
				}
				if all = append(all, more...); len(all) > maxAlternatives {
					return nil, errors.New("too many alternatives")
				}
			}
			return all, nil
		}
	}
	if depth > 0 {
		return nil, errors.New("a brace is not closed")
	}
	return []string{pattern}, nil
}

// matchPath returns the first pattern that matches a worktree's root or a folder around it. Links in
// the part of a pattern before its first wildcard are followed, as the root has none.
func matchPath(list []string, root, home string) (string, bool) {
	for _, text := range list {
		pattern, err := expandPath(text, home)
		if err != nil {
			continue // Load has refused the list
		}
		for _, form := range forms(pattern) {
			if matchesAround(fold(form), fold(filepath.ToSlash(root))) {
				return text, true
			}
		}
	}
	return "", false
}

// matchExact returns the entry that is the root of a worktree.
func matchExact(list []string, root, home string) (string, bool) {
	for _, text := range list {
		entry, err := expandPath(text, home)
		if err != nil {
			continue
		}
		for _, form := range []string{entry, physical(entry)} {
			if fold(form) == fold(filepath.ToSlash(root)) {
				return text, true
			}
		}
	}
	return "", false
}

// forms returns the pattern, and the pattern with the links of its fixed beginning resolved.
func forms(pattern string) []string {
	fixed, rest := pattern, ""
	if i := strings.IndexAny(pattern, `*?[{\`); i >= 0 {
		i = strings.LastIndexByte(pattern[:i], '/')
		fixed, rest = pattern[:i], pattern[i:]
	}
	if target := physical(fixed); fixed != "" && target != fixed {
		return []string{pattern, target + rest}
	}
	return []string{pattern}
}

func physical(dir string) string {
	target, err := filepath.EvalSymlinks(filepath.FromSlash(dir))
	if err != nil {
		return dir
	}
	return filepath.ToSlash(target)
}

// fold returns a path in the form in which it is compared: where file systems usually ignore the case
// of letters, in lower case.
func fold(name string) string {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.ToLower(name)
	}
	return name
}

// matchesAround reports whether the pattern matches the name or a name around it: the pattern "/a"
// matches "/a/b".
func matchesAround(pattern, name string) bool {
	all, err := alternatives(pattern)
	if err != nil {
		return false
	}
	segments := strings.Split(name, "/")
	for _, p := range all {
		words := strings.Split(strings.TrimSuffix(p, "/"), "/")
		for n := len(segments); n > 0; n-- {
			if matchesSegments(words, segments[:n]) {
				return true
			}
		}
	}
	return false
}

// matchesSegments matches each segment with path.Match, and "**" with any number of segments.
func matchesSegments(pattern, name []string) bool {
	// reached[i] reports whether the pattern up to here matches the first i segments.
	reached := make([]bool, len(name)+1)
	reached[0] = true
	for _, word := range pattern {
		next := make([]bool, len(name)+1)
		for i := range reached {
			switch {
			case word == "**":
				next[i] = reached[i] || i > 0 && next[i-1]
			case i > 0 && reached[i-1]:
				ok, err := path.Match(word, name[i-1])
				next[i] = ok && err == nil
			}
		}
		reached = next
	}
	return reached[len(name)]
}

// matchOrigin returns the first entry that matches the key of a remote, or a group around it: a
// pattern, or a URL in any form.
func matchOrigin(list []string, key string) (string, bool) {
	for _, text := range list {
		if matchesAround(originPattern(text), key) || OriginKey(text, "") == key {
			return text, true
		}
	}
	return "", false
}

// originPattern returns a pattern for keys from one for keys or URLs: in lower case, without scheme, user
// and ".git", and with a slash for the colon after the host. The pattern of a path is the path.
func originPattern(text string) string {
	rest, isURL := text, false
	if before, after, ok := strings.Cut(text, "://"); ok && !strings.ContainsAny(before, "/:") {
		rest, isURL = after, true
	}
	slash := strings.IndexByte(rest, '/')
	if slash == 0 {
		return rest
	}
	host, name := rest, ""
	if end := strings.IndexAny(rest, ":/"); end >= 0 {
		host, name = rest[:end], rest[end+1:]
		if isURL && rest[end] == ':' { // a port
			name = ""
			if slash >= 0 {
				name = rest[slash+1:]
			}
		}
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	return strings.ToLower(strings.TrimSuffix(host+"/"+strings.Trim(name, "/"), ".git"))
}

// OriginKey returns the form in which remotes are compared, of a URL in any form, or of such a key if
// root is empty: host and path in lower case, without user, port and ".git", like
// "github.com/acme/widgets". The key of a path or a file URL is the absolute path, links resolved; a
// relative path starts at root. It is empty for a URL of another kind, as of a remote helper.
func OriginKey(remote, root string) string {
	if before, rest, ok := strings.Cut(remote, "://"); ok && !strings.ContainsAny(before, "/:") {
		switch scheme := strings.ToLower(before); scheme {
		case "file":
			if i := strings.IndexByte(rest, '/'); i >= 0 {
				return pathKey(rest[i:], root)
			}
			return ""
		case "https", "http", "ssh", "git", "git+ssh", "ssh+git":
			u, err := url.Parse(remote)
			if err != nil {
				return ""
			}
			return hostKey(u.Hostname(), u.Path)
		default:
			return ""
		}
	}
	colon, slash := strings.IndexByte(remote, ':'), strings.IndexByte(remote, '/')
	switch {
	case strings.Contains(remote, "::"):
		return ""
	case colon > 0 && (slash < 0 || colon < slash): // user@host:path
		host := remote[:colon]
		return hostKey(strings.Trim(host[strings.IndexByte(host, '@')+1:], "[]"), remote[colon+1:])
	case root == "" && slash > 0 && strings.ContainsRune(strings.TrimLeft(remote[:slash], "."), '.'):
		return hostKey(remote[:slash], remote[slash:]) // a key
	}
	return pathKey(remote, root)
}

func hostKey(host, name string) string {
	name = strings.TrimSuffix(strings.Trim(path.Clean("/"+name), "/"), ".git")
	if host == "" || name == "" {
		return ""
	}
	return strings.ToLower(host + "/" + name)
}

func pathKey(name, root string) string {
	if name == "" {
		return ""
	}
	if !filepath.IsAbs(name) {
		if root == "" {
			return ""
		}
		name = filepath.Join(root, name)
	}
	return physical(path.Clean(filepath.ToSlash(name)))
}

// ExclusionKey returns the key whose list a pattern of the user belongs to, and the entry: a path,
// absolute or starting with "~" or ".", in which case it starts at dir; a path after "=" for this
// root alone; or else a remote.
func ExclusionKey(pattern, dir string) (key, entry string, err error) {
	text, isExact := strings.CutPrefix(pattern, "=")
	isPath := isExact || filepath.IsAbs(text) || text == "~" || strings.HasPrefix(text, "~/")
	if text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") {
		text, isPath = filepath.Join(dir, text), true
	}
	switch {
	case isExact:
		return KeyExcludePathsExact, text, checkPath(text)
	case isPath:
		return KeyExcludePaths, text, checkPathPattern(text)
	case !strings.Contains(text, "/") && !strings.Contains(text, ":"):
		return "", "", errors.New("neither a path nor a remote: a path starts with /, ~ or ., a remote is like github.com/acme/*")
	}
	return KeyExcludeOrigins, originPattern(text), checkOriginPattern(text)
}

// IsListed reports whether one of the roots is an entry of a list of paths.
func IsListed(list, roots []string, home string) bool {
	for _, root := range roots {
		if _, found := matchExact(list, root, home); found {
			return true
		}
	}
	return false
}
