//go:build faults

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashContext stops the hooks around a clear at every write. The next session still gets
// the complete context, and it is stored once.
func TestCrashContext(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for name, c := range map[string]contextCase{
		"the stop before a clear": {hook: "stop", want: "clear/pending", act: (*play).stopMain, then: (*play).clearMain, least: 5},
		"the end at a clear":      {hook: "session-end", want: "clear/pending", act: (*play).clearMain, least: 4},
		"the start after a clear": {hook: "session-start", want: "clear/pending", before: (*play).clearMain, act: (*play).nextMain, least: 3},
		"a start after a crash":   {hook: "session-start", want: "clear/pending", act: (*play).nextMain, least: 3},
		"a compaction":            {hook: "pre-compact", want: "compact/kept", act: (*play).compactMain, then: (*play).compactMain, least: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t, bin)
		})
	}
}

// contextCase is one hook that is stopped: before runs first, then act with the stop, then what
// happens before the next session starts.
type contextCase struct {
	hook, want        string
	before, act, then func(p *play)
	least             int
}

func (p *play) stopMain()    { p.main().Stop() }
func (p *play) clearMain()   { p.main().End("clear") }
func (p *play) nextMain()    { p.after("next").Start("clear") }
func (p *play) compactMain() { p.main().Compact("What was done.") }

func (c contextCase) run(t *testing.T, bin string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	ready := newPlay(t, root, bin, "plain")
	ready.main().Live()
	defer ready.main().Die()
	ready.turn("main", "a.txt")
	ready.main().Prompt("Please write b.txt as well.")
	ready.writes("main", "b.txt")
	if c.hook != "stop" {
		ready.main().Stop()
	}
	if c.before != nil {
		c.before(ready)
	}
	copyAll(t, root, root+".kept")
	points := 0
	for step := 1; ; step++ {
		p := ready.copyFor(t)
		mark := p.during(c.hook, fmt.Sprintf("crash:%d", step), func() { c.act(p) })
		if c.then != nil {
			c.then(p)
		}
		where := fmt.Sprintf("stopped at step %d: %s", step, mark)
		if said := p.after("next").Start("clear").Stdout; !strings.Contains(said, "Resumed from checkpoint: ") {
			t.Errorf("%s\nthe next session is told %s", where, said)
		}
		if diff := cmp.Diff([]string{c.want}, p.contextsOf("a.txt", "b.txt")); diff != "" {
			t.Errorf("%s\ncheckpoints (-want +got):\n%s\nlog:\n%s", where, diff, p.complaints())
		}
		copyAll(t, root+".kept", root)
		if mark == "" || t.Failed() {
			break
		}
		points++
	}
	t.Logf("%d points", points)
	if points < c.least {
		t.Errorf("only %d points", points)
	}
}

// after returns a session that runs in the process of the main one.
func (p *play) after(name string) *testkit.Session {
	s := p.session(name)
	s.PID = p.main().PID
	return s
}

// contextsOf returns cause and status of the saved contexts, with the files whose stored
// contents differ.
func (p *play) contextsOf(paths ...string) []string {
	p.TB.Helper()
	got := []string{}
	for ref := range strings.FieldsSeq(p.Git("for-each-ref", "--format=%(refname)", "refs/entire/context/")) {
		var c struct{ Cause, Status string }
		if err := json.Unmarshal([]byte(p.Git("cat-file", "blob", ref+":checkpoint.json")), &c); err != nil {
			p.TB.Fatalf("%s: %v", ref, err)
		}
		line := c.Cause + "/" + c.Status
		for _, path := range paths {
			if have := p.Git("cat-file", "blob", ref+":files/"+path); have != strings.TrimSpace(p.Read(path)) {
				line += fmt.Sprintf(", %s is %q", path, have)
			}
		}
		got = append(got, line)
	}
	return got
}
