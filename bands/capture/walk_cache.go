package capture

import (
	"github.com/seed-3aff656d/entire/bands/statcache"
)

// addSubdirectory appends an entry for a subdirectory that was entered.
func addSubdirectory(n *statcache.Node, kid *node) {
	switch kid.out.state {
	case asBefore:
		n.AddDir(kid.name, statcache.Subdirectory{Old: kid.old})
	case storedAnew:
		n.AddDir(kid.name, statcache.Subdirectory{Node: kid.out.stat})
	case unknown:
		// No inode: the next walk tries again.
		n.Add(&statcache.Line{Name: kid.name, Kind: statcache.File, Mode: kid.st.Mode})
	case gone:
	}
}
