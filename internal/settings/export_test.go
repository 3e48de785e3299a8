package settings

// Keys are those of all settings, ScopedKeys those for which it is decided what
// a project may set.
func Keys() []string {
	var keys []string
	for _, f := range fields() {
		keys = append(keys, f.key)
	}
	return keys
}

func ScopedKeys() []string {
	var keys []string
	for key := range scopes() {
		keys = append(keys, key)
	}
	return keys
}
