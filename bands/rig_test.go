package bands_test

import (
	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/rules"
	"github.com/seed-3aff656d/entire/bands/statcache"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// statLine is an entry of the stat cache.
type statLine struct {
	Ino  uint64
	Kind byte
}

// statLines returns all entries of the lineage's stat cache by path, false if it can't be read.
func statLines(s *bands.Store, lineage string) (map[string]statLine, bands.Version, bool) {
	c, err := statcache.Read(s.Path(bands.StatPrefix + lineage))
	if err != nil {
		return nil, 0, false
	}
	all := map[string]statLine{}
	var list func(path string, d statcache.Directory)
	list = func(path string, d statcache.Directory) {
		var e statcache.Line
		for lines := d.Lines(); lines.Next(&e); {
			p := tree.JoinPath(path, e.Name)
			all[p] = statLine{Ino: e.Ino, Kind: e.Kind}
			if kid, ok := c.Child(d, e); ok && e.Kind == statcache.Dir {
				list(p, kid)
			}
		}
	}
	list("", c.Root)
	return all, c.Version, true
}

// leavesOut reports whether the options leave a path out.
func leavesOut(o bands.Options, dir, name string, isDir bool) bool {
	return rules.New(o, "/nowhere").Reason(dir, name, isDir) != 0
}
