package catalog_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/catalog"
)

func TestTablesMatchDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/formats/catalog.md")
	must(t, err)
	_, after, _ := strings.Cut(string(page), "```sql\n")
	text, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page has no tables")
	}
	dir := t.TempDir()
	run(t, filepath.Join(dir, "page"), text)
	c, err := catalog.Open(t.Context(), filepath.Join(dir, "ours"))
	must(t, errors.Join(err, c.Close()))
	if diff := cmp.Diff(describe(t, filepath.Join(dir, "page")), describe(t, filepath.Join(dir, "ours"))); diff != "" {
		t.Error(diff)
	}
}

// describe returns SQLite's descriptions of the tables, as text.
func describe(t *testing.T, path string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer func() { _ = db.Close() }()
	queries := []string{"SELECT type, name, tbl_name FROM sqlite_schema"}
	for _, table := range []string{"stores", "checkpoints", "pairs"} {
		for _, about := range []string{"table_xinfo", "index_list", "foreign_key_list"} {
			queries = append(queries, fmt.Sprintf("SELECT '%s', * FROM pragma_%s('%s')", table, about, table))
		}
	}
	var lines []string
	for _, query := range queries {
		lines = append(lines, ask(t, db, query)...)
	}
	slices.Sort(lines)
	return lines
}

func ask(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	must(t, err)
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	must(t, err)
	var lines []string
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		must(t, rows.Scan(into...))
		lines = append(lines, fmt.Sprint(query, values))
	}
	must(t, rows.Err())
	return lines
}
