// Package rewind restores files, conversations and sessions to a point, and undoes and redoes
// rewinds. It imports conversation, points and the packages below; doctor and the commands
// import it.
package rewind
