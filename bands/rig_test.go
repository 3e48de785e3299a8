package bands_test

import (
	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
)

// statDir is the kind of a directory in the stat cache.
const statDir = 2

// statLine is an entry of the stat cache.
type statLine struct {
	Ino  uint64
	Kind byte
}

// statLines returns all entries of the lineage's stat cache by path, false if it can't be read.
func statLines(s *bands.Store, lineage string) (map[string]statLine, bands.Version, bool) {
	c, err := capture.ReadStatCache(s.Path(bands.StatPrefix + lineage))
	if err != nil {
		return nil, 0, false
	}
	all := map[string]statLine{}
	var list func(path string, d capture.StatDirectory)
	list = func(path string, d capture.StatDirectory) {
		var e capture.StatLine
		for lines := d.Lines(); lines.Next(&e); {
			p := band.JoinPath(path, e.Name)
			all[p] = statLine{Ino: e.Ino, Kind: e.Kind}
			if kid, ok := c.Child(d, e); ok && e.Kind == statDir {
				list(p, kid)
			}
		}
	}
	list("", c.Root)
	return all, c.Version, true
}

// leavesOut reports whether the options leave a path out.
func leavesOut(o bands.Options, dir, name string, isDir bool) bool {
	return capture.NewRules(o, "/nowhere").Reason(dir, name, isDir) != 0
}
