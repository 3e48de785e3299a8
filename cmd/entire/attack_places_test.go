package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// siege is a hostile condition that exists while hooks run and is removed afterwards.
type siege struct {
	name string
	// set creates the condition and returns a function that removes it.
	set func(t *testing.T, p *play) (lift func())
	// excused are the paths that need not be recorded.
	excused []string
	// locked reports that a child may hold the lock: a commit without a trailer then prints a
	// message.
	locked bool
	// uncommitted reports that git itself can't commit under this condition.
	uncommitted bool
}

// withstands plays a turn and a commit during the siege, and more after it. Each hook exits 0
// within its deadline and leaves the worktree and the index unchanged; in the end nothing is
// lost. It returns the number of hooks and commits.
func (s siege) withstands(t *testing.T, p *play) int {
	t.Helper()
	const deadline = time.Second
	p.main().Installed = false
	p.turn("main", "a.txt")
	p.main().Prompt("Please write b.txt.")
	p.writes("main", "b.txt")
	lift := s.set(t, p)
	p.fault = p.fault.With("ENTIRE_HOOKS_TIMEOUT="+deadline.String(), "ENTIRE_NO_DETACH=0")
	tries := 0
	within := func(name string, run func()) {
		t.Helper()
		tries++
		began := time.Now()
		run()
		if took := time.Since(began); took > 15*deadline {
			t.Errorf("%s took %v", name, took)
		}
	}
	within("stop", func() { p.main().Stop() })
	if !s.uncommitted {
		within("commit", func() {
			p.git("add", "a.txt")
			p.commits("-m", "a")
		})
		switch linked := len(p.Trailers("HEAD")) == 1; {
		case !linked && s.locked && strings.Contains(p.said, "entire: "):
			s.excused = append(s.excused, "a.txt")
		case !linked:
			t.Errorf("not linked, said %q", p.said)
		}
	}
	within("start", func() { p.main().Start("resume") })
	within("prompt", func() { p.main().Prompt("Please go on.") })
	within("stop", func() { p.main().Stop() })
	within("end", func() { p.main().End("other") })
	lift()
	p.awaitChildren()
	p.fault, p.excused = nil, s.excused
	p.session("next").Start("startup")
	faults := p.dangling()
	p.finish()
	if faults = append(faults, p.faults()...); len(faults) > 0 {
		t.Errorf("%s\nlog:\n%s", strings.Join(faults, "\n"), p.complaints())
	}
	return tries
}

// withstandAll tries up to n of the sieges, evenly spaced.
func withstandAll(t *testing.T, n int, all []siege) {
	t.Helper()
	step := max(1, len(all)/max(1, n))
	for i := 0; i < len(all); i += step {
		t.Run(all[i].name, func(t *testing.T) {
			t.Parallel()
			tries := all[i].withstands(t, newPlay(t, t.TempDir(), programDir(t), "plain"))
			t.Logf("%d tries", tries)
		})
	}
}

// replaceBy replaces a file by the result of create; lift restores it.
func (p *play) replaceBy(path string, create func(path string) error) (lift func()) {
	p.TB.Helper()
	path = p.Path(path)
	aside := filepath.Join(p.root, "aside")
	err := os.Rename(path, aside)
	was := err == nil
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.TB.Fatalf("put in place: %v", err)
	}
	if err := create(path); err != nil {
		p.TB.Fatalf("put in place: %v", err)
	}
	return func() {
		if pipe, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			_ = pipe.Close() // unblocks a process that waits for the other end
		}
		p.remove(path)
		if was {
			if err := os.Rename(aside, path); err != nil {
				p.TB.Fatalf("put in place: %v", err)
			}
		}
	}
}

// TestAttackFIFOs: a pipe without a writer where a file is expected.
func TestAttackFIFOs(t *testing.T) {
	t.Parallel()
	at := func(path string) func(*play) string { return func(*play) string { return path } }
	var all []siege
	for _, c := range []struct {
		name        string
		path        func(p *play) string
		excused     []string
		uncommitted bool
	}{
		{name: ".entire/settings.json", path: at(".entire/settings.json")},
		{name: ".entire/settings.local.json", path: at(".entire/settings.local.json")},
		{name: ".entire/.gitignore", path: at(".entire/.gitignore")},
		{name: ".entire/logs/entire.log", path: at(".entire/logs/entire.log")},
		{name: ".claude/settings.json", path: at(".claude/settings.json")},
		{name: ".claude/settings.local.json", path: at(".claude/settings.local.json")},
		{name: ".mcp.json", path: at(".mcp.json")},
		{name: ".agentfs", path: at(".agentfs")},
		{name: ".env", path: at(".env")},
		{name: ".netrc", path: at(".netrc")},
		{name: ".gitignore", path: at(".gitignore"), uncommitted: true},
		{name: ".gitattributes", path: at(".gitattributes"), uncommitted: true},
		{name: "tracked", path: at("old.txt")},
		{name: "edited", path: at("b.txt"), excused: []string{"b.txt"}}, // as if it were deleted
		{name: "edited and pending", path: at("a.txt"), uncommitted: true},
		{name: "new", path: at("dir/new.txt")},
		{name: "links", path: func(p *play) string { return p.own("links.json") }},
		{name: "state", path: func(p *play) string { return p.statePath(".json") }, uncommitted: true},
		{name: "prompts", path: func(p *play) string { return p.statePath(".prompts") }},
		{name: "segments", path: func(p *play) string { return p.statePath(".segments") }},
		{name: "store", path: func(p *play) string { return p.own("store", "store.json") }},
	} {
		all = append(all, siege{
			name: strings.TrimPrefix(c.name, "."), excused: c.excused, uncommitted: c.uncommitted,
			set: func(_ *testing.T, p *play) func() {
				return p.replaceBy(c.path(p), func(path string) error { return syscall.Mkfifo(path, 0o600) })
			},
		})
	}
	withstandAll(t, attackTries(4), all)
}

// TestAttackLinks: a link out of the worktree where a file or folder is expected. Its target
// stays unchanged.
func TestAttackLinks(t *testing.T) {
	t.Parallel()
	var all []siege
	for _, path := range []string{
		".entire", ".entire/logs", ".entire/tmp", ".entire/metadata", ".entire/settings.json", ".entire/settings.local.json", ".entire/.gitignore",
		".claude", ".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".agentfs", ".env",
	} {
		for _, target := range []string{"file.json", "folder", "missing"} {
			all = append(all, siege{name: fmt.Sprintf("%s to %s", strings.TrimPrefix(path, "."), target), set: func(t *testing.T, p *play) func() {
				outside := filepath.Join(p.root, "outside")
				p.Write(filepath.Join(outside, "file.json"), "{\"enabled\": true}\n")
				p.Write(filepath.Join(outside, "folder", "mine"), "mine\n")
				before := testkit.Fingerprint(outside, 100)
				lift := p.replaceBy(path, func(path string) error { return os.Symlink(filepath.Join(outside, target), path) })
				return func() {
					if now := testkit.Fingerprint(outside, 100); now != before {
						t.Errorf("outside changed:\n%s\nto\n%s", before, now)
					}
					lift()
				}
			}})
		}
	}
	withstandAll(t, attackTries(4), all)
}
