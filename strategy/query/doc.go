// Package query reads the record: checkpoints and sessions, and the index of turns, which it
// fills. It writes nothing but the index.
package query
