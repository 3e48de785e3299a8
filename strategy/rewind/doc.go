// Package rewind restores files, conversations and sessions to a point, and undoes and redoes
// that. It lists the points, switches to the branch of a session to resume it, and makes, compares
// and removes forks.
package rewind
