package index

import (
	"context"
	"math"
	"slices"
	"time"
)

// Place is where a turn is in the order of Turns.
type Place struct {
	At time.Time
	ID int64
}

// Newest and Oldest are places before the first turn and behind the last one.
func Newest() Place { return Place{time.UnixMilli(math.MaxInt64 / 2), math.MaxInt64} }

// Oldest is described at Newest.
func Oldest() Place { return Place{time.UnixMilli(math.MinInt64 / 2), 0} }

// Window is turns that follow one another in the order of Turns.
type Window struct {
	Rows []Row
	// At is the index of the turn at the place that was asked for, or of the one behind it;
	// the last one if there is none behind it.
	At int
	// Before is how many turns precede Rows, Total how many there are.
	Before, Total int
}

// Window returns the turns of a filter around a place: n before it, and n from it on.
func (r *Reader) Window(ctx context.Context, f Filter, place Place, n int) (w Window, err error) {
	where, args := f.condition()
	key := []any{millis(place.At), place.ID}
	read := func(beyond, order string) (list []Row, err error) {
		query := "SELECT " + rowColumns + " FROM turns t JOIN sessions s ON s.id = t.session WHERE " + where + " AND (t.at, t.id) " + beyond + " (?, ?) ORDER BY " + order + " LIMIT ?"
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
	// A join on the left with nothing of its right side in the condition isn't made.
	count := "SELECT count(*) FROM turns t LEFT JOIN sessions s ON s.id = t.session WHERE " + where
	if w.Total, err = r.number(ctx, count, args); err != nil || len(w.Rows) == 0 {
		return w, err
	}
	first := &w.Rows[0]
	w.Before, err = r.number(ctx, count+" AND (t.at, t.id) > (?, ?)", slices.Concat(args, []any{millis(first.At), first.ID}))
	return w, err
}

// Turn returns the turn at a place; false if it isn't there any more.
func (r *Reader) Turn(ctx context.Context, place Place) (row Row, found bool, err error) {
	list, err := r.rows(ctx, "SELECT "+rowColumns+" FROM turns t JOIN sessions s ON s.id = t.session WHERE t.id = ? AND t.at = ?", []any{place.ID, millis(place.At)})
	if err != nil || len(list) == 0 {
		return Row{}, false, err
	}
	return list[0], true, nil
}

// rows reads turns, with what is in other tables.
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
