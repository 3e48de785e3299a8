package index

import (
	"context"
	"database/sql"
	"errors"
)

// statements runs prepared statements on the connection of a Writer. The first statement
// begins a transaction.
type statements struct {
	conn     *sql.Conn
	open     bool // a transaction is open
	prepared map[string]*sql.Stmt
	ids      map[string]map[string]int64 // ids of names, by table
}

// prepare returns a prepared statement. It begins a transaction if none is open. The statement can
// be run without ctx: a statement takes microseconds, and the driver would start a goroutine for it
// that waits for ctx.
func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.open {
		if _, err := s.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			return nil, explain(err)
		}
		s.open = true
	}
	prepared := s.prepared[query]
	if prepared == nil {
		var err error
		if prepared, err = s.conn.PrepareContext(ctx, query); err != nil {
			return nil, explain(err)
		}
		s.prepared[query] = prepared
	}
	return prepared, nil
}

// exec runs a statement that returns no rows.
func (s *statements) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, err := s.prepare(ctx, query) //nolint:sqlclosecheck // Writer.disconnect closes it
	if err != nil {
		return nil, err
	}
	result, err := statement.ExecContext(context.WithoutCancel(ctx), args...)
	return result, explain(err)
}

// execAll runs statements with the same arguments until one fails.
func (s *statements) execAll(ctx context.Context, queries []string, args ...any) error {
	for _, query := range queries {
		if _, err := s.exec(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// row runs a query for one row; found is false if there is none.
func (s *statements) row(ctx context.Context, query string, args []any, to ...any) (found bool, err error) {
	statement, err := s.prepare(ctx, query) //nolint:sqlclosecheck // Writer.disconnect closes it
	if err != nil {
		return false, err
	}
	err = statement.QueryRowContext(context.WithoutCancel(ctx), args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, explain(err)
}

// rows calls fn for each row of a query. fn must not run statements.
func (s *statements) rows(ctx context.Context, query string, fn func(row scanner) error) error {
	statement, err := s.prepare(ctx, query) //nolint:sqlclosecheck // Writer.disconnect closes it
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(ctx)
	if err != nil {
		return explain(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return explain(err)
		}
	}
	return explain(rows.Err())
}

// idOf returns the id of a name in a table of names. It inserts the name if it is missing.
func (s *statements) idOf(ctx context.Context, table, column, name string) (int64, error) {
	known := s.ids[table]
	if known == nil {
		known = map[string]int64{}
		s.ids[table] = known
	}
	if id, found := known[name]; found {
		return id, nil
	}
	var id int64
	found, err := s.row(ctx, "SELECT id FROM "+table+" WHERE "+column+" = ?", []any{name}, &id)
	if err == nil && !found {
		var result sql.Result
		if result, err = s.exec(ctx, "INSERT INTO "+table+"("+column+") VALUES (?)", name); err == nil {
			id, err = result.LastInsertId()
		}
	}
	if err != nil {
		return 0, err
	}
	const most = 100_000
	if len(known) > most {
		clear(known)
	}
	known[name] = id
	return id, nil
}
