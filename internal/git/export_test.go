package git

import (
	"context"
	"slices"
)

var ParseConfig = parseConfig

var DecodeTree = decodeTree

// OnlyProcess makes r read all objects through the git process.
func OnlyProcess(r *Repo) { r.replaces = func() bool { return true } }

// ApplyDelta applies the delta of a pack to its base.
func ApplyDelta(base, delta []byte) ([]byte, error) { return applyDelta(base, delta, maxPackedObject) }

// ReadPacked reads a packed object without git. The limit on the number of such reads doesn't
// apply.
func (r *Repo) ReadPacked(oid OID) (Object, error) {
	r.packed.reads = 0
	return r.packed.read(oid, readLimit)
}

// ReadProgress writes git's stderr to the progress reader in pieces of size bytes. It returns the
// progress and the remaining text.
func ReadProgress(stderr string, size int) (list []Progress, kept string) {
	c := &capture{progress: &progressReader{report: func(p Progress) { list = append(list, p) }}}
	for piece := range slices.Chunk([]byte(stderr), size) {
		_, _ = c.Write(piece)
	}
	return list, c.String()
}

// BreakRefLock is breakLock with the age of an abandoned lock of a ref.
func BreakRefLock(r *Repo, lock string) bool { return breakLock(r, lock, abandonedLock) }

var RemoteReason = remoteReason

// DiffTree is Changes as computed by git.
func DiffTree(ctx context.Context, r *Repo, from, to OID) ([]Change, error) {
	return diffTree(ctx, r, string(from), string(to))
}

var ParseBlame = parseBlame

const MaxBlameLines = maxBlameLines

// ConfigEntry is a setting of a configuration file.
type ConfigEntry = configEntry

// Fields returns the parts of the setting; plain reports that it isn't in a subsection.
func (e configEntry) Fields() (section, key, value string, plain bool) {
	return e.section, e.key, e.value, e.isPlain
}
