package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/retention"
)

func doctor(t *testing.T, m machine, also ...string) registry.Report {
	t.Helper()
	report, err := m.Doctor(t.Context(), nil, also...)
	fine(t, err)
	return report
}

func TestDoctorRebuildsTheCatalog(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, m machine){
		"nothing wrong": func(*testing.T, machine) {},
		"deleted":       func(t *testing.T, m machine) { t.Helper(); fine(t, os.Remove(m.CatalogPath())) },
		"garbage":       func(t *testing.T, m machine) { t.Helper(); putFile(t, m.CatalogPath(), strings.Repeat("x", 9999)) },
		"home emptied": func(t *testing.T, m machine) {
			t.Helper()
			fine(t, errors.Join(os.Remove(m.CatalogPath()), os.Remove(filepath.Join(m.Home, "stores.list")), os.Remove(filepath.Join(m.Home, "lock"))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			s := filled(t, m, "a", 3)
			filled(t, m, "b", 1)
			repo := m.path("repo")
			fine(t, os.MkdirAll(filepath.Join(repo, ".git"), 0o755))
			own, err := m.RepositoryStore(t.Context(), filepath.Join(repo, ".git"), repo)
			fine(t, err)
			before, err := m.List(t.Context())
			fine(t, err)
			harm(t, m)
			report := doctor(t, m, own.Dir)
			if report.Stores != 3 || report.Checkpoints != 4 || len(report.Problems) > 0 || (report.SetAside != "") != (name == "garbage") {
				t.Errorf("%+v", report)
			}
			after, err := m.List(t.Context())
			fine(t, err)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
			if got := rows(t, m); len(got) != 3 || len(got[1].Pairs) != 1 {
				t.Errorf("%+v", got)
			}
			agrees(t, m, s)
			fine(t, m.Rows().Check(t.Context()))
			if again := doctor(t, m, own.Dir); len(again.Mended)+len(again.Problems) > 0 {
				t.Errorf("a second time: %+v", again)
			}
		})
	}
}

func TestDoctorRemovesMissingStores(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	a := m.init(t, "a")
	b := m.init(t, "b")
	fine(t, os.RemoveAll(a.Dir))
	putFile(t, filepath.Join(m.Home, "stores", ".new-1", "store", "x"), "")
	putFile(t, filepath.Join(m.Home, "stores", ".deleted-1", "store", "x"), "")
	report := doctor(t, m)
	if report.Stores != 1 || len(report.Mended) != 2 {
		t.Errorf("%+v", report)
	}
	if got := fileText(t, filepath.Join(m.Home, "stores.list")); got != `"`+b.Dir+`"`+"\n" {
		t.Errorf("the list is %s", got)
	}
	names, err := os.ReadDir(filepath.Join(m.Home, "stores"))
	if err != nil || len(names) != 1 {
		t.Errorf("left: %v, %v", names, err)
	}
}

func TestDoctorRenamesStoresWithSameName(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	repo := m.path("x", "app")
	fine(t, os.MkdirAll(filepath.Join(repo, ".git"), 0o755))
	own, err := m.RepositoryStore(t.Context(), filepath.Join(repo, ".git"), repo)
	fine(t, err)
	copied := m.path("y", "app")
	fine(t, os.CopyFS(copied, os.DirFS(repo)))
	report := doctor(t, m, registry.RepositoryDir(filepath.Join(copied, ".git")))
	list, err := m.List(t.Context())
	fine(t, err)
	if report.Stores != 2 || len(list) != 2 || list[0].Name != "app" || list[1].Name != "app-2" {
		t.Errorf("%+v, %+v", report, list)
	}
	if got, err := m.Find(t.Context(), "app-2"); err != nil || got.ID == own.ID && list[0].ID == own.ID {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDoctorRestoresDescription(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(path string) error{
		"lost":    os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			s := filled(t, m, "a", 2)
			fine(t, harm(filepath.Join(s.Dir(), "store.json")))
			report := doctor(t, m)
			if report.Stores != 1 || report.Checkpoints != 2 || len(report.Mended) == 0 {
				t.Errorf("%+v", report)
			}
			e, err := m.Find(t.Context(), "a")
			if err != nil || e.Root != s.root || !e.Active() {
				t.Errorf("%+v, %v", e, err)
			}
			s.noise(t, "file", 10)
			if v := s.take(t, bands.Auto, 0); v != 3 {
				t.Errorf("the next version is %s", v)
			}
		})
	}
}

func TestDoctorKeepsVersionsAboveCatalog(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := filled(t, m, "a", 5)
	doctor(t, m)
	s.held(t, func(h *bands.Held) { fine(t, retention.Delete(h, 4, 5)) })
	fine(t, os.Remove(filepath.Join(s.Dir(), "version")))
	doctor(t, m)
	doctor(t, m)
	s.noise(t, "file", 10)
	if v := s.take(t, bands.Auto, 0); v != 6 {
		t.Errorf("the next version is %s", v)
	}
	s.checkData(t)
}

func TestDoctorReportsProblems(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := filled(t, m, "a", 2)
	fine(t, os.RemoveAll(s.root))
	putFile(t, filepath.Join(s.SnapshotDir(1), "snapshot.json"), "{}")
	putFile(t, filepath.Join(m.Home, "config.toml"), "stores.base_path = 3")
	report := doctor(t, m)
	all := strings.Join(report.Problems, "\n")
	for _, want := range []string{s.root + " is missing", "v1"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q isn't in %q", want, all)
		}
	}
	if report.Stores != 1 || report.Checkpoints != 1 {
		t.Errorf("%+v", report)
	}
}
