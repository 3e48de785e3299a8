package settings

func ScopedKeys() []string {
	var keys []string
	for key := range scopes() {
		keys = append(keys, key)
	}
	return keys
}

func FormatSize(n int64) string { return formatSize(n) }
