package capture

import (
	"bufio"
	"io"
)

// ReadWholeStatCache reads everything in a stat cache with these bytes, without checking its
// checksums, and reports whether it is consistent.
func ReadWholeStatCache(data string) bool {
	c, _, err := loadStatCache(data)
	if err != nil {
		return false
	}
	budget := 10_000 // blocks that refer to each other are read often
	var all func(d StatDirectory) bool
	all = func(d StatDirectory) bool {
		_, _ = d.Record(), d.Stat()
		w := &statWriter{to: bufio.NewWriter(io.Discard), old: c}
		_ = w.copy(d)
		if budget--; budget < 0 {
			return false
		}
		var e StatLine
		lines := d.Lines()
		for lines.Next(&e) {
			if e.Kind != statDir {
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
