// Package autocommit commits an agent's changes at the end of a turn, if the settings enable it. It
// imports commits, turn and the packages below.
package autocommit
