package statcache

import (
	"bufio"
	"io"
)

// ReadAll reads everything that a stat cache with these bytes has, whatever its checksums,
// and reports whether that made sense.
func ReadAll(data string) bool {
	c, _, err := load(data)
	if err != nil {
		return false
	}
	budget := 10_000 // blocks that name each other are met often
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
