package dirfd

import "strings"

// Xattr is an extended attribute.
type Xattr struct {
	Name  string
	Value []byte
}

// ours reports whether an extended attribute belongs to the file. Others belong
// to the system: labels that a security module gives, and views of other data.
func ours(name string) bool {
	switch {
	case strings.HasPrefix(name, "security."):
		return name == "security.capability"
	case strings.HasPrefix(name, "system."):
		return name == "system.posix_acl_access" || name == "system.posix_acl_default"
	}
	return !strings.HasPrefix(name, "trusted.SGI_ACL_") // how XFS keeps the two above
}
