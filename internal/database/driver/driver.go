// Package driver adds the driver of SQLite to the programs that import it.
package driver

import _ "modernc.org/sqlite" // registers itself
