// Package database opens SQLite databases and names the errors of SQLite.
//
// It doesn't import the driver, which takes longer to start than the rest of a hook: programs that
// open databases import package driver. Everything in a database can be rebuilt from other files, so
// programs without the driver leave that to others.
package database

import (
	"database/sql"
	"errors"
	"slices"
)

// Primary result codes of SQLite: https://sqlite.org/rescode.html.
const (
	CodeError      = 1
	CodeBusy       = 5
	CodeLocked     = 6
	CodeReadOnly   = 8
	CodeInterrupt  = 9
	CodeIOError    = 10
	CodeCorrupt    = 11
	CodeCantOpen   = 14
	CodeSchema     = 17
	CodeConstraint = 19
	CodeFormat     = 24
	CodeNotADB     = 26
)

// ErrNoDriver means that the program doesn't have the driver.
var ErrNoDriver = errors.New("this program has no driver for databases")

// name is the name by which the driver registers itself.
const name = "sqlite"

// HasDriver reports whether the program has the driver.
func HasDriver() bool { return slices.Contains(sql.Drivers(), name) }

// Open returns the database that a URI of SQLite names, with at most one connection: with more, a
// process would wait for its own transactions. It returns ErrNoDriver without the driver.
func Open(uri string) (*sql.DB, error) {
	if !HasDriver() {
		return nil, ErrNoDriver
	}
	db, err := sql.Open(name, uri)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// Code returns the primary result code of an error of the driver, the low byte of its code, and 0 for
// other errors.
func Code(err error) int {
	e, ok := errors.AsType[interface {
		error
		Code() int
	}](err)
	if !ok {
		return 0
	}
	return e.Code() & 0xff
}
