package capture

import (
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// unknownEntry returns the entry of a file whose content isn't stored.
func unknownEntry(name string, why band.UnknownReason, st *dirfd.Stat) band.Entry {
	return band.Entry{Name: name, Kind: band.Unknown, Reason: why, Attr: AttrOf(st)}
}

// AttrOf returns the attributes of a file from its stat data.
func AttrOf(st *dirfd.Stat) band.Attr {
	return band.Attr{Mode: st.Mode & dirfd.ModePerm, UID: st.UID, GID: st.GID, Mtime: st.ModTime()}
}

func xattrsOf(list []dirfd.Xattr) []band.Xattr {
	if len(list) == 0 {
		return nil
	}
	all := make([]band.Xattr, 0, len(list))
	for _, x := range list {
		all = append(all, band.Xattr{Name: x.Name, Value: x.Value})
	}
	return all
}

// isShared reports whether the name is that of a database's shared memory.
func isShared(name string) bool { return strings.HasSuffix(name, "-shm") }
