package git

import "context"

// These are open to tests, which compare them with git or feed them garbage.
var (
	ParseConfig = parseConfig
	DecodeTree  = decodeTree
	Reason      = reason
)

// DiffTree is Changes by git itself.
func DiffTree(ctx context.Context, r *Repo, from, to OID) ([]Change, error) {
	return r.diffTree(ctx, string(from), string(to))
}

// BreakLock is breakLock for tests.
func (r *Repo) BreakLock(lock string) bool { return r.breakLock(lock, abandoned) }

// OnlyProcess lets r read all objects through git's process.
func OnlyProcess(r *Repo) { r.replaces = func() bool { return true } }
