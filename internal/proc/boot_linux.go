package proc

import (
	"os"
	"strings"
)

// Boot identifies the current boot of the system; it is empty if that isn't known.
func Boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
