package explore

// nearEnd is how many rows from an end of the window the next one is loaded.
const nearEnd = 60

// list is the window of rows, and the cursor in it.
type list struct {
	Window

	query   Query
	loading bool
	pending *string // what to load around when the present load has ended
	known   bool    // something was loaded
}

// id is the row under the cursor, empty if there is none.
func (l *list) id() string {
	if row := l.row(); row != nil {
		return row.ID
	}
	return ""
}

// row is the row under the cursor, nil if there is none.
func (l *list) row() *Row {
	if l.At < 0 || l.At >= len(l.Rows) {
		return nil
	}
	return &l.Rows[l.At]
}

// move moves the cursor by n rows, as far as they are loaded, and reports whether more have
// to be loaded.
func (l *list) move(n int) (load bool) {
	l.At = max(min(l.At+n, len(l.Rows)-1), 0)
	atStart, atEnd := l.Before == 0, l.Before+len(l.Rows) >= l.Total
	return !atStart && l.At < nearEnd || !atEnd && l.At >= len(l.Rows)-nearEnd
}
