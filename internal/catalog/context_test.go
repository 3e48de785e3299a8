package catalog_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/catalog"
)

func newContext(id string, order int64) catalog.Context {
	return catalog.Context{
		ID: id, OID: "o" + id, Summary: "s" + id, Created: at(order), Order: order, Status: "kept", Cause: "clear", Mode: "stateful",
		Worktree: "/w", Branch: "main", Commit: "c", Session: "x", Files: 1, Bytes: 2, Text: "the text of " + id,
	}
}

func TestContexts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	c := open(t, path)
	for _, ask := range []func() (any, error){
		func() (any, error) { return c.Contexts(t.Context(), "r", catalog.ContextFilter{}) },
		func() (any, error) { return c.ContextRepositories(t.Context()) },
		func() (any, error) { return nil, c.DropContexts(t.Context(), "r") },
	} {
		if _, err := ask(); err != nil {
			t.Errorf("without tables: %v", err)
		}
	}
	a, b := newContext("a", 1), newContext("b", 2)
	must(t, c.SetContexts(t.Context(), "r", catalog.ContextChange{Put: []catalog.Context{a, b}, Stamp: "one"}))
	must(t, c.SetContexts(t.Context(), "other", catalog.ContextChange{Put: []catalog.Context{a}}))
	list := func(f catalog.ContextFilter, want ...catalog.Context) {
		t.Helper()
		got, err := c.Contexts(t.Context(), "r", f)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v: %s", f, diff)
		}
	}
	list(catalog.ContextFilter{Words: []string{"text", "of b"}}, b)
	a.Text, b.Text = "", ""
	list(catalog.ContextFilter{}, b, a)
	list(catalog.ContextFilter{Limit: 1, Worktree: "/w", Branch: "main", Session: "x", Status: "kept"}, b)
	list(catalog.ContextFilter{Status: "pending"})

	stamp := func(want string) {
		t.Helper()
		if got, err := c.ContextStamp(t.Context(), "r"); err != nil || got != want {
			t.Errorf("the stamp is %q, %v", got, err)
		}
	}
	stamp("one")
	must(t, c.SetContexts(t.Context(), "r", catalog.ContextChange{Drop: []string{"a"}, Stamp: "three", After: "two"}))
	stamp("one")
	must(t, c.SetContexts(t.Context(), "r", catalog.ContextChange{Stamp: "two", After: "one"}))
	stamp("two")
	oids, err := c.ContextOIDs(t.Context(), "r")
	if diff := cmp.Diff(map[string]string{"b": "ob"}, oids); diff != "" || err != nil {
		t.Error(diff, err)
	}
	must(t, c.DropContexts(t.Context(), "r"))
	list(catalog.ContextFilter{})
	stamp("")
	if repos, err := c.ContextRepositories(t.Context()); err != nil || !slices.Equal(repos, []string{"other"}) {
		t.Errorf("%q, %v", repos, err)
	}
}

// A program without support for contexts must find the schema version that it knows.
func TestContextsKeepSchemaVersion(t *testing.T) {
	t.Parallel()
	path := stored(t)
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer func() { _ = db.Close() }()
	before := ask(t, db, "PRAGMA user_version")
	must(t, open(t, path).SetContexts(t.Context(), "r", catalog.ContextChange{Put: []catalog.Context{newContext("a", 1)}}))
	if diff := cmp.Diff(before, ask(t, db, "PRAGMA user_version")); diff != "" {
		t.Error(diff)
	}
}

func TestContextTablesMatchDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/formats/context.md")
	must(t, err)
	_, after, _ := strings.Cut(string(page), "```sql\n")
	text, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("the page has no tables")
	}
	dir := t.TempDir()
	run(t, filepath.Join(dir, "page"), text)
	must(t, open(t, filepath.Join(dir, "ours")).SetContexts(t.Context(), "r", catalog.ContextChange{}))
	describe := func(name string) []string {
		db, err := sql.Open("sqlite", filepath.Join(dir, name))
		must(t, err)
		defer func() { _ = db.Close() }()
		lines := ask(t, db, "SELECT type, name, tbl_name FROM sqlite_schema WHERE tbl_name LIKE 'context%' ORDER BY name")
		for _, table := range []string{"contexts", "context_stamps"} {
			lines = append(lines, ask(t, db, "SELECT * FROM pragma_table_xinfo('"+table+"')")...)
			lines = append(lines, ask(t, db, "SELECT * FROM pragma_index_list('"+table+"')")...)
		}
		return lines
	}
	if diff := cmp.Diff(describe("page"), describe("ours")); diff != "" {
		t.Error(diff)
	}
}
