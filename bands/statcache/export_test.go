package statcache

// ReadAll reads everything that a stat cache with these bytes before its
// checksum has, and reports whether that made sense.
func ReadAll(data string) bool {
	c, err := parse(data)
	if err != nil {
		return false
	}
	budget := 10_000 // blocks that name each other are met often
	var all func(d Directory) bool
	all = func(d Directory) bool {
		_, _ = d.Record(), d.Own()
		_ = c.subtree(d)
		if budget--; budget < 0 {
			return false
		}
		var e Line
		lines := d.Lines()
		for lines.Next(&e) {
			if e.Kind != Dir {
				continue
			}
			kid, ok := c.Child(d, e)
			if !ok || !all(kid) {
				return false
			}
		}
		return !lines.Bad
	}
	return all(c.Root)
}
