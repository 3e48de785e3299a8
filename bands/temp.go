package bands

import "strings"

// TempPrefix begins the names of files that a restore is writing; 16 hex digits follow.
const TempPrefix = ".entire-tmp-"

// IsTemp reports whether the name is one of those.
func IsTemp(name string) bool {
	digits, ok := strings.CutPrefix(name, TempPrefix)
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}
