package statcache

import (
	"bufio"
	"io"
)

// ReadAll reads everything in a stat cache with these bytes, without checking its checksums, and
// reports whether it is consistent.
func ReadAll(data string) bool {
	c, _, err := load(data)
	if err != nil {
		return false
	}
	budget := 10_000 // blocks that refer to each other are read often
	var all func(d Directory) bool
	all = func(d Directory) bool {
		_, _ = d.Record(), d.Own()
		w := &writer{to: bufio.NewWriter(io.Discard), old: c}
		_ = w.copy(d)
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
