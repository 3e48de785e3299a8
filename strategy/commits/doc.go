// Package commits links commits to sessions. It decides about a commit before git makes it, and
// carries the decision out after the commit, or later if the hooks of the commit were interrupted.
// It is above condense, authorship and journal, and fires no event of a session.
package commits
