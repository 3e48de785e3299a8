package index

import (
	"context"
	"math"
	"slices"
	"time"
)

// Place is the position of a turn in the order of Turns.
type Place struct {
	At time.Time
	ID int64
}

// Newest returns a place before the first turn.
func Newest() Place { return Place{time.UnixMilli(math.MaxInt64 / 2), math.MaxInt64} }

// Oldest returns a place after the last turn.
func Oldest() Place { return Place{time.UnixMilli(math.MinInt64 / 2), 0} }

// Window is a list of consecutive turns in the order of Turns.
type Window struct {
	Rows []Row
	// At is the index in Rows of the turn at the requested place, or of the next one, or of
	// the last one if there is no next one.
	At int
	// Before is the number of turns before Rows, Total the number of all turns.
	Before, Total int
}

// Window returns the turns of a filter around a place: up to n before it and n from it on.
func (r *Reader) Window(ctx context.Context, f Filter, place Place, n int) (w Window, err error) {
	where, args := f.condition()
	key := []any{millis(place.At), place.ID}
	read := func(beyond, order string) (list []Row, err error) {
		query := "SELECT " + rowColumns() + " FROM turns t JOIN sessions s ON s.id = t.session WHERE " + where + " AND (t.at, t.id) " + beyond + " (?, ?) ORDER BY " + order + " LIMIT ?"
		return r.rows(ctx, query, slices.Concat(args, key, []any{n}))
	}
	newer, err := read(">", "t.at, t.id")
	if err != nil {
		return w, err
	}
	slices.Reverse(newer)
	older, err := read("<=", "t.at DESC, t.id DESC")
	if err != nil {
		return w, err
	}
	w.Rows = slices.Concat(newer, older)
	w.At = min(len(newer), len(w.Rows)-1)
	// SQLite omits a left join whose right side is not used.
	count := "SELECT count(*) FROM turns t LEFT JOIN sessions s ON s.id = t.session WHERE " + where
	if w.Total, err = r.number(ctx, count, args); err != nil || len(w.Rows) == 0 {
		return w, err
	}
	first := &w.Rows[0]
	w.Before, err = r.number(ctx, count+" AND (t.at, t.id) > (?, ?)", slices.Concat(args, []any{millis(first.At), first.ID}))
	return w, err
}

// Turn returns the turn at a place; found is false if it no longer exists.
func (r *Reader) Turn(ctx context.Context, place Place) (row Row, found bool, err error) {
	list, err := r.rows(ctx, "SELECT "+rowColumns()+" FROM turns t JOIN sessions s ON s.id = t.session WHERE t.id = ? AND t.at = ?", []any{place.ID, millis(place.At)})
	if err != nil || len(list) == 0 {
		return Row{}, false, err
	}
	return list[0], true, nil
}

// rows reads turns, including their data in other tables.
func (r *Reader) rows(ctx context.Context, query string, args []any) (list []Row, err error) {
	list, err = collect(ctx, r.conn, query, args, func(rows scanner, row *Row) error {
		var at, ended int64
		err := rows.Scan(row.targets(&at, &ended)...)
		row.At, row.Ended = fromMillis(at), fromMillis(ended)
		return err
	})
	for i := range list {
		if err == nil {
			err = r.complete(ctx, &list[i])
		}
	}
	return list, err
}

func (r *Reader) number(ctx context.Context, query string, args []any) (n int, err error) {
	err = each(ctx, r.conn, query, args, func(rows scanner) error { return rows.Scan(&n) })
	return n, err
}
