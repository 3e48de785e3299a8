// Package sqlite captures SQLite databases that other processes are writing:
// the main file, its rollback journal and its write-ahead log, as they were at
// one point in time. It opens no database, since opening one may change it,
// and takes no lock that a writer needs.
package sqlite

import (
	"errors"
	"strings"
)

// ErrBusy means that the database was written too often to read all its files as of one point in
// time. It is returned wrapped.
var ErrBusy = errors.New("database in use")

// The suffixes of a database's other files.
const (
	journalSuffix = "-journal"
	logSuffix     = "-wal"
	sharedSuffix  = "-shm"
)

// magic is the beginning of a database.
const magic = "SQLite format 3\x00"

// IsDatabase reports whether a file with this beginning, of at least 16 bytes, is a database.
func IsDatabase(head []byte) bool {
	return len(head) >= len(magic) && string(head[:len(magic)]) == magic
}

// Companions returns the names of the files that belong to the database main: rollback journal,
// write-ahead log, and the log's index, which is never captured and must be removed when the others
// are restored.
func Companions(main string) [3]string {
	return [3]string{main + journalSuffix, main + logSuffix, main + sharedSuffix}
}

// Unit returns the main file whose companion name is, if exists returns true for it. It checks only
// names: whether the main file is a database, IsDatabase reports.
func Unit(exists func(name string) bool, name string) (main string, ok bool) {
	for _, suffix := range [...]string{journalSuffix, logSuffix, sharedSuffix} {
		main, ok = strings.CutSuffix(name, suffix)
		if ok {
			return main, main != "" && exists(main)
		}
	}
	return "", false
}
