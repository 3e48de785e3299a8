package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// drill runs scenes and stops hooks in them.
type drill struct {
	bin   string
	tally *tally
	step  int // every step-th point is tried
}

// tally counts the points at which hooks were stopped.
type tally struct {
	mu     sync.Mutex
	points map[string]int
}

func newTally() *tally { return &tally{points: map[string]int{}} }

func (c *tally) add(hook string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.points[hook]++
}

// report prints the numbers of points, also without -v.
func (c *tally) report(t *testing.T) {
	t.Helper()
	sum := 0
	var b strings.Builder
	for _, hook := range slices.Sorted(maps.Keys(c.points)) {
		fmt.Fprintf(&b, "%-20s %4d points\n", hook, c.points[hook])
		sum += c.points[hook]
	}
	fmt.Printf("%s\n%s%-20s %4d points\n", t.Name(), b.String(), "together", sum)
}

// stage is a scene prepared up to its hook, which can be run repeatedly.
type stage struct {
	drill *drill
	scene scene
	hook  string
	ready *play
	tape  *tape
	want  map[string]outcome // by the name of the next hook
}

// outcome is the end of a scene without a stopped hook.
type outcome struct {
	world  string
	ledger []string
}

// crash stops the hook at each of its writes in turn.
func (d *drill) crash(t *testing.T, s scene, hook string) {
	t.Helper()
	st := d.set(t, s, hook)
	for n := 1; ; n += d.step {
		if n > 500 {
			t.Fatal("it writes and writes")
		}
		stopped := false
		after := nextHooks()[n/d.step%len(nextHooks())]
		st.expect(t, after)
		t.Run(fmt.Sprintf("%03d then %s", n, after.name), func(t *testing.T) { stopped = st.run(t, n, after) })
		if !stopped {
			return
		}
		d.tally.add(hook)
	}
}

// set plays the scene up to its hook.
func (d *drill) set(t *testing.T, s scene, hook string) *stage {
	t.Helper()
	st := &stage{drill: d, scene: s, hook: hook, want: map[string]outcome{}}
	st.ready = newPlay(t, t.TempDir(), d.bin, s.repoKind())
	s.prepared(st.ready)
	st.tape = record(t, st.ready.root)
	return st
}

func (s scene) repoKind() string {
	if s.kind == "" {
		return "plain"
	}
	return s.kind
}

func (s scene) prepared(p *play) {
	if s.prepare != nil {
		s.prepare(p)
	}
}

func (s scene) runThen(p *play) {
	if s.then != nil {
		s.then(p)
	}
}

// expect plays the scene to its end without us and with us, and compares the user's data.
func (st *stage) expect(t *testing.T, after next) {
	t.Helper()
	if _, known := st.want[after.name]; known {
		return
	}
	alone := newPlay(t, t.TempDir(), "", st.scene.repoKind())
	st.scene.prepared(alone)
	st.tape.rewind(t)
	p := st.ready.copyFor(t)
	for _, p := range []*play{alone, p} {
		st.scene.act(p)
		after.run(p)
		st.scene.runThen(p)
		p.finish()
	}
	want := outcome{world: alone.world(), ledger: p.ledger()}
	if faults := p.faults(); len(faults) > 0 {
		t.Errorf("nobody was stopped, then %s:\n%s\nlog:\n%s", after.name, strings.Join(faults, "\n"), p.complaints())
	}
	if diff := cmp.Diff(want.world, p.world()); diff != "" {
		t.Errorf("nobody was stopped, then %s: the user's world (-without us +with us):\n%s", after.name, diff)
	}
	st.want[after.name] = want
}

// run plays the scene once, with its hook stopped at write n, and reports whether the hook
// reached it.
func (st *stage) run(t *testing.T, n int, after next) bool {
	t.Helper()
	st.tape.rewind(t)
	p := st.ready.copyFor(t)
	mark := p.during(st.hook, fmt.Sprintf("crash:%d", n), func() { st.scene.act(p) })
	undecided := slices.Contains([]string{"prepare-commit-msg", "commit-msg"}, st.hook)
	if undecided {
		p.excused = strings.Fields(p.Git("log", "-1", "-m", "--name-only", "--format=", "HEAD"))
	}
	after.run(p)
	faults := p.dangling()
	if len(faults) > 0 {
		faults = append(faults, "(right after the next hook)")
	}
	st.scene.runThen(p)
	p.finish()
	faults = append(faults, p.faults()...)
	want := st.want[after.name]
	if diff := cmp.Diff(want.world, p.world()); diff != "" {
		faults = append(faults, "the user's world (-without us +with us):\n"+diff)
	}
	if !undecided {
		if diff := cmp.Diff(want.ledger, p.ledger()); diff != "" {
			faults = append(faults, "what is recorded (-not stopped +stopped):\n"+diff)
		}
	}
	if len(faults) > 0 {
		t.Errorf("%s, %s stopped at: %sthen %s:\n%s\nlog:\n%s", st.scene.name, st.hook, mark, after.name, strings.Join(faults, "\n"), p.complaints())
	}
	return mark != ""
}

// during runs do with a fault in the hook, and returns the place where the fault struck.
func (p *play) during(hook, fault string, do func()) (mark string) {
	p.TB.Helper()
	path := filepath.Join(p.root, "mark")
	p.fault = testkit.Env{"ENTIRE_FAULT=" + fault, "ENTIRE_FAULT_IN=" + caller(hook), "ENTIRE_FAULT_MARK=" + path}
	do()
	p.fault = nil
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

// failing runs do while the writes of a hook fail.
func (p *play) failing(hook string, do func()) {
	p.TB.Helper()
	if p.during(hook, "fail:1", do) == "" && !p.alone {
		p.TB.Fatalf("%s wrote nothing", hook)
	}
	_ = os.Remove(filepath.Join(p.root, "mark"))
}

// caller returns the arguments by which the process of a hook is recognized.
func caller(hook string) string {
	switch hook {
	case "complete":
		return "hooks complete"
	case "session-start", "user-prompt-submit", "stop", "session-end", "pre-compact", "post-compact",
		"pre-task", "post-task", "post-todo", "subagent-stop":
		return "claude-code " + hook
	default:
		return "git " + hook
	}
}

// strand runs a hook whose detached child is stopped before it writes.
func (p *play) strand(do func()) {
	p.TB.Helper()
	if p.alone {
		do()
		return
	}
	path := filepath.Join(p.root, "mark")
	p.fault = testkit.Env{"ENTIRE_NO_DETACH=0", "ENTIRE_FAULT=crash:1", "ENTIRE_FAULT_IN=hooks complete", "ENTIRE_FAULT_MARK=" + path}
	do()
	p.fault = nil
	for range 200 {
		if _, err := os.Lstat(path); err == nil {
			_ = os.Remove(path)
			return
		}
		testkit.Pass(p.TB, filepath.Join(p.root, "tmp"), 50_000_000)
	}
	p.TB.Fatalf("no child was started")
}

// complaints returns the lines of the log that aren't at level INFO.
func (p *play) complaints() string {
	var b strings.Builder
	for line := range strings.Lines(p.Log()) {
		if !strings.Contains(line, `"level":"INFO"`) {
			b.WriteString(line)
		}
	}
	return b.String()
}
