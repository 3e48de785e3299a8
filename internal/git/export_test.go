package git

import "slices"

var ParseConfig = parseConfig

var DecodeTree = decodeTree

// OnlyProcess lets r read all objects through git's process.
func OnlyProcess(r *Repo) { r.replaces = func() bool { return true } }

// ApplyDelta applies the delta of a pack to its base.
func ApplyDelta(base, delta []byte) ([]byte, error) { return applyDelta(base, delta, maxPackedObject) }

// ReadPacked reads a packed object without git, at most as many as are left to it.
func (r *Repo) ReadPacked(oid OID) (Object, error) {
	r.packed.reads = 0
	return r.packed.read(oid, readLimit)
}

// ReadProgress gives a git's stderr to what reads it, in pieces of a size, and returns the
// progress and what is kept.
func ReadProgress(stderr string, size int) (list []Progress, kept string) {
	c := &capture{progress: &progressReader{report: func(p Progress) { list = append(list, p) }}}
	for piece := range slices.Chunk([]byte(stderr), size) {
		_, _ = c.Write(piece)
	}
	return list, c.String()
}
