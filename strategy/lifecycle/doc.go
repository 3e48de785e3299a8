// Package lifecycle fires the events of a session: it begins and ends turns, sessions and
// subagents' tasks, and recovers turns that weren't ended by a stop. Packages turn and
// condense below it implement the machine's actions.
package lifecycle
