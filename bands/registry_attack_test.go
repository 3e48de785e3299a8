package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
)

// TestAttackContextNamesStore has .agentfs files that must not be followed: they name stores
// of other makers or of other folders, or belong to another user.
func TestAttackContextNamesStore(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	root := func(t *testing.T) {
		t.Helper()
		if os.Geteuid() != 0 {
			t.Skip("only root can give files to another user")
		}
	}
	tests := map[string]struct {
		// attack returns the folder in which a command is called.
		attack func(t *testing.T, m machine, mine registry.Entry) string
		why    string // reason of the refusal, empty if accepted
	}{
		"a path to a store that the folder brings": {func(t *testing.T, m machine, mine registry.Entry) string {
			t.Helper()
			m.plant(t, filepath.Join(mine.Root, "clone", "fixtures"), mine.Root)
			putFile(t, filepath.Join(mine.Root, "clone", ".agentfs"), "./fixtures\n")
			return filepath.Join(mine.Root, "clone")
		}, "not created on this machine"},
		"an absolute path": {func(t *testing.T, m machine, mine registry.Entry) string {
			t.Helper()
			m.plant(t, m.path("shared", "store"), mine.Root)
			putFile(t, filepath.Join(mine.Root, "clone", ".agentfs"), m.path("shared", "store"))
			return filepath.Join(mine.Root, "clone")
		}, "not created on this machine"},
		"a path through a link": {func(t *testing.T, m machine, mine registry.Entry) string {
			t.Helper()
			m.plant(t, m.path("shared", "store"), mine.Root)
			putFile(t, filepath.Join(mine.Root, "clone", ".agentfs"), "./link/../shared/store")
			fine(t, os.Symlink(m.path("shared"), filepath.Join(mine.Root, "clone", "shared")))
			return filepath.Join(mine.Root, "clone")
		}, "not created on this machine"},
		"a path to the user's store of another folder": {func(t *testing.T, m machine, mine registry.Entry) string {
			t.Helper()
			putFile(t, m.path("clone", ".agentfs"), mine.Dir)
			return m.path("clone")
		}, "its tree is "},
		"a path to the user's store of the folder beside": {func(t *testing.T, _ machine, mine registry.Entry) string {
			t.Helper()
			putFile(t, mine.Root+"-2/.agentfs", mine.Dir)
			return mine.Root + "-2"
		}, "its tree is "},
		"the name of a store that only the catalog knows": {func(t *testing.T, m machine, mine registry.Entry) string {
			t.Helper()
			s := m.plant(t, m.path("shared", "store"), mine.Root)
			_, err := m.Rows().Checkpoints(t.Context(), s, 0)
			fine(t, errors.Join(err, m.Rows().Record(t.Context(), s, bands.Snapshot{Version: 1})))
			if e, err := m.Find(t.Context(), "planted"); err != nil || e.Dir != s.Dir() {
				t.Fatalf("the catalog doesn't know it: %v %v", e, err)
			}
			_, err = m.Doctor(t.Context(), nil)
			fine(t, err)
			putFile(t, m.path("clone", ".agentfs"), "planted")
			return m.path("clone")
		}, "not created on this machine"},
		"another user's .agentfs": {func(t *testing.T, m machine, _ registry.Entry) string {
			t.Helper()
			root(t)
			putFile(t, m.path("public", ".agentfs"), "mine")
			fine(t, os.Chown(m.path("public", ".agentfs"), nobody, nobody))
			return m.path("public")
		}, "belongs to another user"},
		"another user's store": {func(t *testing.T, _ machine, mine registry.Entry) string {
			t.Helper()
			root(t)
			fine(t, os.Chown(mine.Dir, nobody, nobody))
			return mine.Root
		}, "belongs to another user"},
		"another user's description": {func(t *testing.T, _ machine, mine registry.Entry) string {
			t.Helper()
			root(t)
			fine(t, os.Chown(filepath.Join(mine.Dir, "store.json"), nobody, nobody))
			return mine.Root
		}, "belongs to another user"},
		"the user's own, by name": {func(t *testing.T, m machine, _ registry.Entry) string {
			t.Helper()
			putFile(t, m.path("away", ".agentfs"), "mine")
			return m.path("away")
		}, ""},
		"the user's own, by path, below its folder": {func(t *testing.T, _ machine, mine registry.Entry) string {
			t.Helper()
			putFile(t, filepath.Join(mine.Root, "sub", ".agentfs"), mine.Dir)
			return filepath.Join(mine.Root, "sub")
		}, ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			mine := m.init(t, "mine")
			dir := c.attack(t, m, mine)
			e, err := m.FindFor(t.Context(), dir, "")
			if c.why == "" {
				if err != nil || e.ID != mine.ID {
					t.Errorf("%+v, %v", e, err)
				}
				return
			}
			refused, ok := errors.AsType[*registry.ContextError](err)
			if !ok || !errors.Is(err, bands.ErrNoStore) || !strings.Contains(refused.Why, c.why) {
				t.Fatalf("%+v, %v", e, err)
			}
			if refused.File != filepath.Join(dir, ".agentfs") || !strings.Contains(err.Error(), refused.File) {
				t.Errorf("not named: %v", err)
			}
		})
	}
}

// plant creates a store that the registry doesn't have, as another user would.
func (m machine) plant(t *testing.T, dir, root string) *bands.Store {
	t.Helper()
	other := machineIn(t.TempDir())
	e := other.init(t, "planted")
	fine(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	fine(t, os.Rename(e.Dir, dir))
	info := strings.ReplaceAll(fileText(t, filepath.Join(dir, "store.json")), e.Root, root)
	putFile(t, filepath.Join(dir, "store.json"), strings.ReplaceAll(info, "root_id", "was_id"))
	s, err := bands.Open(dir)
	fine(t, err)
	return s
}

// TestRegistryWithoutHome has a registry without a home directory.
func TestRegistryWithoutHome(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.Home, m.UserHome = "", ""
	repo := m.path("repo")
	fine(t, os.MkdirAll(filepath.Join(repo, ".git"), 0o755))
	for range 2 {
		e, err := m.RepositoryStore(t.Context(), filepath.Join(repo, ".git"), repo)
		if err != nil || e.Name != "repo" || e.Root != repo || !e.Active() {
			t.Fatalf("%+v, %v", e, err)
		}
	}
	fine(t, os.Rename(repo, m.path("moved")))
	e, err := m.RepositoryStore(t.Context(), m.path("moved", ".git"), m.path("moved"))
	if err != nil || e.Root != m.path("moved") || e.Name != "repo" {
		t.Errorf("%+v, %v", e, err)
	}
	if got, err := m.FindFor(t.Context(), m.path("moved"), e.Dir); err != nil || got.ID != e.ID {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := m.Init(t.Context(), "x", m.path("x"), 0); !errors.Is(err, registry.ErrNoHome) {
		t.Errorf("init: %v", err)
	}
	if _, err := m.Manage(t.Context(), m.path("moved"), "", 0); !errors.Is(err, registry.ErrNoHome) {
		t.Errorf("manage: %v", err)
	}
	list, err := m.List(t.Context())
	report, bad := m.Doctor(t.Context(), nil, e.Dir)
	if err := errors.Join(err, bad); err != nil || len(list) != 0 || report.Stores != 1 {
		t.Errorf("%v, %+v, %v", list, report, err)
	}
	fine(t, m.DeleteStore(t.Context(), e))
	if _, err := registry.Own(e.Dir); !errors.Is(err, registry.ErrNoContext) {
		t.Errorf("after its deletion: %v", err)
	}
}
