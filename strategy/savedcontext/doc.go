// Package savedcontext saves the context of a session before it is cleared, compacted or lost, and
// gives it to the session that follows. It imports record, rewind, tracking and workspace.
package savedcontext
