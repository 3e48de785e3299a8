package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// powerStates is the number of trees tried of each scene, unless ENTIRE_TEST_POWER is set.
const powerStates = 3

// TestPower replays the file operations of a hook and its children, as traced by strace, cuts
// the power after each call, and tests the trees that a file system may then have: without any
// unsynced change of a name or a content, with some of them, or with all names and no contents.
// On each of them the next hooks run, and the records are checked.
func TestPower(t *testing.T) { //nolint:tparallel // the scenes within are parallel
	t.Parallel()
	testkit.Long(t, "a program of its own, and many trees")
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace isn't installed")
	}
	most := powerStates
	if n, err := strconv.Atoi(os.Getenv("ENTIRE_TEST_POWER")); err == nil {
		most = n
	}
	bin := buildFaulty(t)
	chosen := []string{"first turn: stop", "split with carry-forward: post-commit"}
	t.Run("scenes", func(t *testing.T) {
		for _, s := range powerScenes() {
			name := s.name + ": " + s.hooks[len(s.hooks)-1]
			if most == powerStates && !slices.Contains(chosen, name) {
				continue
			}
			t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				powerCuts(t, s, bin, most)
			})
		}
	})
}

func powerCuts(t *testing.T, s scene, bin string, most int) {
	t.Helper()
	p := newPlay(t, t.TempDir(), bin, s.repoKind())
	s.prepared(p)
	m := readModel(t, filepath.Join(p.root, "w"))
	ops := p.recorded(t, bin, func() { s.act(p) })
	m.adopt(t, ops)
	var trees []leftover
	seen := map[[32]byte]bool{}
	hashes := sums{}
	syncs := 0
	for _, op := range ops {
		if op.ours && strings.HasPrefix(op.kind, "sync") {
			syncs++
		}
		m.apply(op)
		if !op.ours {
			continue
		}
		for _, left := range m.leftovers() {
			if key := left.key(hashes); !seen[key] {
				seen[key] = true
				left.how = fmt.Sprintf("after %s %s: %s", op.kind, strings.TrimPrefix(op.path, m.root), left.how)
				trees = append(trees, left)
			}
		}
	}
	m.agrees(t)
	end := record(t, p.root)
	step := max(1, (len(trees)+most-1)/most)
	tried := 0
	for i := step - 1; i < len(trees); i += step {
		tried++
		end.rewind(t)
		q := p.copyFor(t)
		trees[i].put(t, m.root)
		faults := q.afterPowerCut(s)
		if len(faults) > 0 {
			t.Errorf("tree %d of %d, %s:\n%s\nlog:\n%s", i, len(trees), trees[i].how, strings.Join(faults, "\n"), q.complaints())
		}
	}
	fmt.Printf("%-60s %4d calls %3d syncs %5d trees %4d tried\n", t.Name(), len(ops), syncs, len(trees), tried)
}

// recorded runs do and returns its file operations.
func (p *play) recorded(t *testing.T, bin string, do func()) []fsOp {
	t.Helper()
	wrap, out := filepath.Join(p.root, "wrap"), filepath.Join(p.root, "trace")
	path := p.Env.Get("PATH")
	for _, dir := range []string{wrap, out} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"entire", "git"} {
		script := "#!/bin/sh\nPATH='" + path + "'\nexport PATH\nexec strace " + strings.Join(straceArgs("'"+out+"'/$$"), " ") + " " + name + " \"$@\"\n"
		if err := testkit.WriteProgram(filepath.Join(wrap, name), script); err != nil {
			t.Fatal(err)
		}
	}
	p.fault = testkit.Env{"PATH=" + wrap + string(os.PathListSeparator) + path}
	do()
	p.fault = nil
	for _, s := range p.sessions {
		s.Extra = nil
	}
	files, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing was recorded: %v", err)
	}
	slices.SortFunc(files, func(a, b string) int { return modTime(t, a).Compare(modTime(t, b)) })
	var ops []fsOp
	for _, file := range files {
		ops = append(ops, readTrace(t, file, bin, p.Dir)...)
	}
	return ops
}

func modTime(t *testing.T, path string) (when timeOf) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return timeOf{info}
}

type timeOf struct{ fs.FileInfo }

func (a timeOf) Compare(b timeOf) int { return a.ModTime().Compare(b.ModTime()) }

// adopt adds the files that the agent has written in the meantime, as if they had existed from
// the beginning: no process of ours wrote them.
func (m *model) adopt(t *testing.T, ops []fsOp) {
	t.Helper()
	written := map[string]bool{}
	for _, op := range ops {
		written[op.path], written[op.to] = true, true
	}
	for path, f := range readModel(t, m.root).base {
		if m.base[path] == nil && !written[path] && !strings.Contains(path, "/.git/") {
			m.base[path], m.now[path] = f, f
		}
	}
}

// agrees checks that the model equals the actual files: otherwise the trace is useless.
func (m *model) agrees(t *testing.T) {
	t.Helper()
	is := readModel(t, m.root)
	for _, path := range slices.Sorted(maps.Keys(is.base)) {
		f, want := m.now[path], is.base[path]
		switch {
		case path == m.root:
		case f == nil:
			t.Errorf("the record lacks %s", path)
		case f.kind != want.kind || f.link != want.link || string(f.data) != string(want.data):
			t.Errorf("the record of %s is wrong: %d bytes, not %d", path, len(f.data), len(want.data))
		default:
			f.perm = want.perm
		}
	}
	for path := range m.now {
		if is.base[path] == nil {
			t.Errorf("the record has %s, which isn't there", path)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// noStore is the exit status if there are no snapshots.
const noStore = 3

// afterPowerCut continues the work and returns the faults: a ref without its objects, a commit
// without its checkpoint, an unreadable state, a damaged snapshot in the list.
func (p *play) afterPowerCut(s scene) []string {
	p.TB.Helper()
	for _, name := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"} { // git asks the user to
		_ = os.Remove(filepath.Join(p.common, name))
	}
	var faults []string
	git := func(args ...string) {
		if r := p.TryGit(args...); r.Code != 0 || strings.Contains(r.Stderr, "error:") {
			faults = append(faults, fmt.Sprintf("git %q: exit %d: %s", args, r.Code, r.Stderr))
		}
	}
	git("rev-list", "--objects", "--all", "--quiet")
	if s.holds != nil {
		faults = append(faults, s.holds(p)...)
	}
	p.session("next").Start("startup")
	faults = append(faults, p.dangling()...)
	faults = append(faults, p.states()...)
	p.Write("unrelated.txt", "unrelated\n")
	git("add", "unrelated.txt")
	git("commit", "-q", "-m", "unrelated", "--", "unrelated.txt")
	faults = append(faults, p.dangling()...)
	if verify := (testkit.Call{Dir: p.Dir, Env: p.Env, Name: "entire", Args: []string{"fs", "verify"}}).Run(p.TB); verify.Code != 0 && verify.Code != noStore {
		faults = append(faults, fmt.Sprintf("fs verify: exit %d: %s%s", verify.Code, verify.Stdout, verify.Stderr))
	}
	doctor := testkit.Call{Dir: p.Dir, Env: p.Env, Name: "entire", Args: []string{"doctor"}}.Run(p.TB)
	if strings.Contains(doctor.Stdout, "lost-checkpoint") || strings.Contains(doctor.Stdout, "lost-branch") {
		faults = append(faults, "doctor: "+doctor.Stdout)
	}
	git("fsck", "--full", "--no-dangling", "--no-progress")
	return faults
}
