package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// machine is a home with a registry, and a directory for projects.
type machine struct {
	*registry.Registry

	dir string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	fine(t, err)
	fine(t, os.Mkdir(filepath.Join(dir, "me"), 0o700))
	return machineIn(dir)
}

func machineIn(dir string) machine {
	now := time.Date(2026, 1, 27, 10, 32, 15, 5, time.UTC)
	home := filepath.Join(dir, "me")
	return machine{&registry.Registry{Home: filepath.Join(home, ".agentfs"), UserHome: home, Now: func() time.Time { return now }}, dir}
}

func fine(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m machine) path(parts ...string) string {
	return filepath.Join(append([]string{m.dir}, parts...)...)
}

func (m machine) init(t *testing.T, name string) registry.Entry {
	t.Helper()
	e, err := m.Init(t.Context(), name, m.path(name), 0)
	fine(t, err)
	return e
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	fine(t, err)
	return string(data)
}

func putFile(t *testing.T, path, content string) {
	t.Helper()
	fine(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)))
}

func TestInit(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	e, err := m.Init(t.Context(), "myapp", m.path("projects", "myapp"), 50<<30)
	fine(t, err)
	at := time.Date(2026, 1, 27, 10, 32, 15, 0, time.UTC)
	want := registry.Entry{
		ID: e.ID, Name: "myapp", Dir: filepath.Join(m.Home, "stores", "myapp"), Root: m.path("projects", "myapp"),
		RootID: disk.Identity(m.path("projects", "myapp")), Size: 50 << 30, Created: at, Mounted: &at,
	}
	if diff := cmp.Diff(want, e); diff != "" || len(e.ID) != 16 {
		t.Error(diff, e.ID)
	}
	if got := fileText(t, filepath.Join(e.Root, ".agentfs")); got != "myapp\n" {
		t.Errorf(".agentfs is %q", got)
	}
	deep := filepath.Join(e.Root, "a", "b")
	fine(t, os.MkdirAll(deep, 0o755))
	for name, find := range map[string]func() (registry.Entry, error){
		"by name":       func() (registry.Entry, error) { return m.Find(t.Context(), "myapp") },
		"by path":       func() (registry.Entry, error) { return m.Find(t.Context(), e.Dir) },
		"by ~":          func() (registry.Entry, error) { return m.Find(t.Context(), "~/.agentfs/stores/myapp/") },
		"from its tree": func() (registry.Entry, error) { return m.FindFor(t.Context(), e.Root, "") },
		"from below":    func() (registry.Entry, error) { return m.FindFor(t.Context(), deep, "/nowhere") },
	} {
		if got, err := find(); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	list, err := m.List(t.Context())
	if diff := cmp.Diff([]registry.Entry{want}, list); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for path, mode := range map[string]os.FileMode{m.Home: 0o700, e.Dir: 0o700, m.CatalogPath(): 0o600, filepath.Join(m.Home, "stores.list"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

func TestInitErrors(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.init(t, "taken")
	putFile(t, m.path("odd", ".agentfs", "x"), "")
	fine(t, os.Symlink(m.UserHome, m.path("link")))
	for _, c := range []struct {
		name, root string
		want       error
	}{
		{"taken", m.path("x"), registry.ErrNameTaken},
		{"x", m.path("taken"), registry.ErrRootTaken},
		{"x", "/", bands.ErrRefusedRoot},
		{"x", m.UserHome, bands.ErrRefusedRoot},
		{"x", "~", bands.ErrRefusedRoot},
		{"x", m.path("link"), bands.ErrRefusedRoot},
		{"x", m.dir, bands.ErrRefusedRoot},
		{"x", m.Home, bands.ErrRefusedRoot},
		{"x", filepath.Join(m.Home, "stores", "x"), bands.ErrRefusedRoot},
		{"", m.path("x"), registry.ErrBadName},
		{".x", m.path("x"), registry.ErrBadName},
		{"-x", m.path("x"), registry.ErrBadName},
		{"a/b", m.path("x"), registry.ErrBadName},
		{"..", m.path("x"), registry.ErrBadName},
		{"a\nb", m.path("x"), registry.ErrBadName},
		{"a ", m.path("x"), registry.ErrBadName},
		{"\xff", m.path("x"), registry.ErrBadName},
		{strings.Repeat("x", 101), m.path("x"), registry.ErrBadName},
	} {
		if _, err := m.Init(t.Context(), c.name, c.root, 0); !errors.Is(err, c.want) {
			t.Errorf("%q in %s: %v", c.name, c.root, err)
		}
	}
	if _, err := m.Init(t.Context(), "x", "relative", 0); err == nil {
		t.Error("a relative path is taken")
	}
	list, err := m.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Errorf("what was refused left %v, %v", list, err)
	}
	if _, err := os.Stat(m.path("x")); err == nil {
		t.Error("what was refused made a directory")
	}
}

func TestNearestContextFile(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	a, b := m.init(t, "a"), m.init(t, "b")
	inner := filepath.Join(a.Root, "x", "y")
	fine(t, os.MkdirAll(inner, 0o755))
	name := func(cwd, own string) string {
		t.Helper()
		e, err := m.FindFor(t.Context(), cwd, own)
		if err != nil {
			return err.Error()
		}
		return e.Name
	}
	if got := name(inner, b.Dir); got != "a" {
		t.Errorf("from above: %s", got)
	}
	fine(t, os.Mkdir(filepath.Join(inner, ".agentfs"), 0o755))
	fine(t, os.Symlink(filepath.Join(b.Root, ".agentfs"), filepath.Join(a.Root, "x", ".agentfs")))
	if got := name(inner, ""); got != "a" {
		t.Errorf("past a folder and a symbolic link: %s", got)
	}
	_, err := m.Use(t.Context(), a.Root, "b")
	fine(t, err)
	if got := name(inner, ""); got != "b" {
		t.Errorf("after use: %s", got)
	}
	rel, err := filepath.Rel(a.Root, a.Dir)
	fine(t, err)
	putFile(t, filepath.Join(a.Root, ".agentfs"), "  "+rel+"  \r\nmore\n")
	if got := name(inner, ""); got != "a" {
		t.Errorf("by a relative path: %s", got)
	}
	_, err = m.Use(t.Context(), a.Root, b.Dir)
	fine(t, err)
	if got := name(inner, ""); got != "b" {
		t.Errorf("after use of a path: %s", got)
	}
}

func TestRepositoryIsDefaultContext(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	e := m.init(t, "a")
	outside := m.path("outside")
	fine(t, os.Mkdir(outside, 0o755))
	if got, err := m.FindFor(t.Context(), outside, e.Dir); err != nil || got.Name != "a" {
		t.Errorf("%v, %v", got, err)
	}
	for _, own := range []string{"", m.path("no", "store")} {
		if _, err := m.FindFor(t.Context(), outside, own); !errors.Is(err, registry.ErrNoContext) {
			t.Errorf("with %q: %v", own, err)
		}
	}
	for _, line := range []string{"nobody\n", "", "/no/where", "../x", strings.Repeat("y", 9000)} {
		putFile(t, filepath.Join(outside, ".agentfs"), line)
		_, err := m.FindFor(t.Context(), outside, e.Dir)
		if !errors.Is(err, bands.ErrNoStore) || !strings.Contains(err.Error(), filepath.Join(outside, ".agentfs")) {
			t.Errorf("naming %.20q: %v", line, err)
		}
	}
}

func TestCloseAndOpen(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	e := m.init(t, "a")
	closed, err := m.CloseStore(t.Context(), e)
	fine(t, err)
	again, err := m.Find(t.Context(), "a")
	if err != nil || closed.Active() || again.Active() {
		t.Errorf("closed: %+v, %+v, %v", closed, again, err)
	}
	opened, err := m.OpenStore(t.Context(), again)
	if err != nil || !opened.Active() || opened.Created != e.Created {
		t.Errorf("opened: %+v, %v", opened, err)
	}
	c, err := catalog.Open(t.Context(), m.CatalogPath())
	fine(t, err)
	row, err := c.StoreByName(t.Context(), "a")
	if err != nil || row.Mounted == nil || row.ID != e.ID || row.Dir != e.Dir || row.Root != e.Root {
		t.Errorf("the row is %+v, %v", row, err)
	}
	fine(t, c.Close())
}

func TestDeleteRemovesStoreAndKeepsTree(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	a, b := m.init(t, "a"), m.init(t, "b")
	putFile(t, filepath.Join(a.Root, "file"), "mine")
	fine(t, m.DeleteStore(t.Context(), a))
	fine(t, m.DeleteStore(t.Context(), a)) // again, as after a crash
	if _, err := m.Find(t.Context(), "a"); !errors.Is(err, bands.ErrNoStore) {
		t.Errorf("it is still found: %v", err)
	}
	if got := fileText(t, filepath.Join(a.Root, "file")); got != "mine" {
		t.Errorf("the tree has %q", got)
	}
	for _, gone := range []string{a.Dir, filepath.Join(a.Root, ".agentfs")} {
		if _, err := os.Lstat(gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	names, err := os.ReadDir(filepath.Join(m.Home, "stores"))
	if err != nil || len(names) != 1 {
		t.Errorf("left: %v, %v", names, err)
	}
	if got := fileText(t, filepath.Join(m.Home, "stores.list")); got != `"`+b.Dir+`"`+"\n" {
		t.Errorf("the list is %s", got)
	}
	m.init(t, "a") // the name is free
	_, err = m.Use(t.Context(), a.Root, "b")
	fine(t, err)
	second, err := m.Find(t.Context(), "a")
	fine(t, err)
	fine(t, m.DeleteStore(t.Context(), second))
	if got := fileText(t, filepath.Join(a.Root, ".agentfs")); got != "b\n" {
		t.Errorf("an .agentfs that names another store is %q", got)
	}
}

func TestDeleteRefusesOtherDirectories(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	putFile(t, m.path("precious", "file"), "mine")
	if err := m.DeleteStore(t.Context(), registry.Entry{Name: "x", Dir: m.path("precious")}); err == nil {
		t.Error("deleted")
	}
	if got := fileText(t, m.path("precious", "file")); got != "mine" {
		t.Errorf("the file is %q", got)
	}
}

func TestManageAndUnmanage(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	dir := m.path("work", "my app")
	putFile(t, filepath.Join(dir, "file"), "mine")
	e, err := m.Manage(t.Context(), dir, "", 0)
	if err != nil || e.Name != "my app" || e.Root != dir || !e.Active() {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, err := m.Manage(t.Context(), dir, "", 0); !errors.Is(err, registry.ErrRootTaken) {
		t.Errorf("twice: %v", err)
	}
	other := m.path("other", "my app")
	putFile(t, filepath.Join(other, "file"), "")
	second, err := m.Manage(t.Context(), other, "", 0)
	if err != nil || second.Name != "my app-2" {
		t.Errorf("the second of the name: %+v, %v", second, err)
	}
	if _, err := m.Manage(t.Context(), m.path("not", "there"), "", 0); err == nil {
		t.Error("a directory that isn't there")
	}
	if _, err := m.Unmanage(t.Context(), m.path("work")); !errors.Is(err, registry.ErrNoContext) {
		t.Errorf("no store's tree: %v", err)
	}
	gone, err := m.Unmanage(t.Context(), dir)
	if err != nil || gone.Name != "my app" {
		t.Errorf("%+v, %v", gone, err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("the directory has %v, %v", names, err)
	}
}

func TestManageFindsStoreOfMovedTree(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	e := m.init(t, "a")
	moved := m.path("moved")
	fine(t, os.Rename(e.Root, moved))
	got, err := m.Manage(t.Context(), moved, "", 0)
	if err != nil || got.ID != e.ID || got.Root != moved {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRepositoryStore(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.init(t, "app")
	root := m.path("src", "app")
	common := filepath.Join(root, ".git")
	fine(t, os.MkdirAll(common, 0o755))
	e, err := m.RepositoryStore(t.Context(), common, root)
	if err != nil || e.Name != "app-2" || e.Dir != filepath.Join(common, "entire", "store") || e.Root != root || !e.Active() || e.Size != 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	again, err := m.RepositoryStore(t.Context(), common, root)
	if err != nil || !cmp.Equal(e, again) {
		t.Errorf("again: %+v, %v", again, err)
	}
	if got, err := m.Find(t.Context(), "app-2"); err != nil || got.ID != e.ID {
		t.Errorf("by name: %+v, %v", got, err)
	}
	if _, err := os.Lstat(filepath.Join(root, ".agentfs")); err == nil {
		t.Error("a repository got an .agentfs")
	}
	fine(t, os.Remove(m.CatalogPath()))
	if got, err := m.Find(t.Context(), "app-2"); err != nil || got.ID != e.ID {
		t.Errorf("without the catalog: %+v, %v", got, err)
	}

	moved := m.path("src", "moved")
	fine(t, os.Rename(root, moved))
	after, err := m.RepositoryStore(t.Context(), filepath.Join(moved, ".git"), moved)
	if err != nil || after.Root != moved || after.Name != "app-2" {
		t.Errorf("moved: %+v, %v", after, err)
	}
	list, err := m.List(t.Context())
	names := []string{}
	for _, e := range list {
		names = append(names, e.Name)
	}
	if err != nil || !slices.Equal(names, []string{"app", "app-2"}) {
		t.Errorf("listed: %v, %v", names, err)
	}
}

func TestCopiedRepositoryGetsAnotherName(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	root := m.path("app")
	fine(t, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
	e, err := m.RepositoryStore(t.Context(), filepath.Join(root, ".git"), root)
	fine(t, err)
	fine(t, os.CopyFS(m.path("copy"), os.DirFS(root)))
	c, err := m.RepositoryStore(t.Context(), m.path("copy", ".git"), m.path("copy"))
	if err != nil || c.Name != "copy" || c.ID == e.ID || c.Root != m.path("copy") {
		t.Errorf("%+v, %v", c, err)
	}
	if got, err := m.Find(t.Context(), "app"); err != nil || got.ID != e.ID || got.Root != root {
		t.Errorf("the first is %+v, %v", got, err)
	}
}

func TestConcurrentInit(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	var all sync.WaitGroup
	var made, taken int
	var mu sync.Mutex
	for i := range 8 {
		root := m.path("tree", string(rune('a'+i)))
		all.Go(func() {
			_, err := m.Init(t.Context(), "same", root, 0)
			repo := filepath.Join(root, "repo")
			bad := os.MkdirAll(filepath.Join(repo, ".git"), 0o755)
			_, own := m.RepositoryStore(t.Context(), filepath.Join(repo, ".git"), repo)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case errors.Is(err, registry.ErrNameTaken):
				taken++
			default:
				t.Error(err)
			}
			if err := errors.Join(bad, own); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made != 1 || taken != 7 {
		t.Errorf("made %d, taken %d", made, taken)
	}
	list, err := m.List(t.Context())
	names := map[string]bool{}
	for _, e := range list {
		names[e.Name] = true
	}
	if err != nil || len(list) != 9 || len(names) != 9 {
		t.Errorf("%d stores with %d names, %v", len(list), len(names), err)
	}
}
