package disk

import (
	"errors"
	"io/fs"
	"strings"
)

// Mounted is an entry of the mount table.
type Mounted struct {
	At     string // mount point
	Source string // as named by the file system: a device for most
}

// Mounts returns the mounts that this process sees, or none if the system has no /proc.
func Mounts() ([]Mounted, error) {
	data, err := ReadFile("/proc/self/mountinfo")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // another system
	}
	if err != nil {
		return nil, err
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var list []Mounted
	for line := range strings.Lines(string(data)) {
		const pathField, sourceField = 4, 1
		before, after, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) <= pathField || len(kind) <= sourceField {
			continue
		}
		list = append(list, Mounted{At: unescape.Replace(fields[pathField]), Source: unescape.Replace(kind[sourceField])})
	}
	return list, nil
}

// MountsIn returns the mount points at or below root.
func MountsIn(root string) ([]string, error) {
	all, err := Mounts()
	var list []string
	for _, m := range all {
		if m.At == root || strings.HasPrefix(m.At, root+"/") {
			list = append(list, m.At)
		}
	}
	return list, err
}
