package settings

func ScopedKeys() []string {
	var keys []string
	for key := range scopes() {
		keys = append(keys, key)
	}
	return keys
}

func FormatSize(n int64) string { return formatSize(n) }

// MatchesPath reports whether a pattern of exclude_paths leaves out a root.
func MatchesPath(pattern, root, home string) bool {
	_, found := matchPath([]string{pattern}, root, home)
	return found
}
