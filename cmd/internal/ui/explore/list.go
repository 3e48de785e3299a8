package explore

// nearEnd is the distance in rows from an end of the window at which the next window is
// loaded.
const nearEnd = 60

// list is the loaded window of rows with the cursor.
type list struct {
	Window

	query   Query
	loading bool
	pending *string // the row to load around when the current load has ended
	known   bool    // a window was loaded
}

// id returns the id of the row under the cursor, "" if there is none.
func (l *list) id() string {
	if row := l.row(); row != nil {
		return row.ID
	}
	return ""
}

// row returns the row under the cursor, nil if there is none.
func (l *list) row() *Row {
	if l.At < 0 || l.At >= len(l.Rows) {
		return nil
	}
	return &l.Rows[l.At]
}

// move moves the cursor by n of the loaded rows, and reports whether more rows must be
// loaded.
func (l *list) move(n int) (load bool) {
	l.At = max(min(l.At+n, len(l.Rows)-1), 0)
	atStart, atEnd := l.Before == 0, l.Before+len(l.Rows) >= l.Total
	return !atStart && l.At < nearEnd || !atEnd && l.At >= len(l.Rows)-nearEnd
}
