package bands

// StatLine is an entry of the stat cache.
type StatLine struct {
	Ino  uint64
	Kind byte
}

// StatLines are all entries of the lineage's stat cache by path; false if it
// can't be read.
func (s *Store) StatLines(lineage string) (map[string]StatLine, Version, bool) {
	c, err := readStatCache(s.path(statPrefix + lineage))
	if err != nil {
		return nil, 0, false
	}
	all := map[string]StatLine{}
	var list func(path string, d statDirectory)
	list = func(path string, d statDirectory) {
		var e statLine
		for lines := d.lines(); lines.next(&e); {
			p := joined(path, e.name)
			all[p] = StatLine{Ino: e.ino, Kind: e.kind}
			if kid, ok := c.child(d, e); ok && e.kind == statDir {
				list(p, kid)
			}
		}
	}
	list("", c.root)
	return all, c.version, true
}

// ReadStatCache reads everything that a stat cache with these bytes before its
// checksum tells, and says whether that made sense.
func ReadStatCache(data string) bool {
	c, err := parseStatCache(data)
	if err != nil {
		return false
	}
	budget := 10_000 // blocks that name each other are met often
	var all func(d statDirectory) bool
	all = func(d statDirectory) bool {
		_, _ = d.record(), d.own()
		_ = c.subtree(d)
		if budget--; budget < 0 {
			return false
		}
		var e statLine
		lines := d.lines()
		for lines.next(&e) {
			if e.kind != statDir {
				continue
			}
			kid, ok := c.child(d, e)
			if !ok || !all(kid) {
				return false
			}
		}
		return !lines.bad
	}
	return all(c.root)
}

// Leaves says whether the options leave a path out.
func Leaves(o Options, dir, name string, isDir bool) bool {
	return newRules(o, "/nowhere").reason(dir, name, isDir) != 0
}
