package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fail makes the writes of a hook fail, from each of them on in turn. The user's work is
// unaffected, the commit reports what is missing, and the next hook that can write repairs it.
func (d *drill) fail(t *testing.T, s scene, hook string) {
	t.Helper()
	st := d.set(t, s, hook)
	for n := 1; ; n += d.step {
		if n > 500 {
			t.Fatal("it writes and writes")
		}
		after := nextHooks()[n/d.step%len(nextHooks())]
		struck := false
		st.expect(t, after)
		t.Run(fmt.Sprintf("%03d then %s", n, after.name), func(t *testing.T) {
			struck = st.failing(t, fmt.Sprintf("fail:%d", n), after)
		})
		if !struck {
			return
		}
		d.tally.add(hook)
	}
}

// places returns parts of paths, to make writes fail at one place only.
func places() []string {
	return []string{
		"/entire/journal/", "/entire-sessions/", ".json", ".prompts", ".usage", ".segments", ".untracked", "/objects/",
		"refs/heads/entire/checkpoints/v1", "refs/heads/entire/", "COMMIT_EDITMSG", "links.json", "/.entire/",
	}
}

// failAt makes the writes of a hook fail whose path contains a place, for each place in turn.
func (d *drill) failAt(t *testing.T, s scene, hook string) {
	t.Helper()
	st := d.set(t, s, hook)
	for i, place := range places() {
		after := nextHooks()[i%len(nextHooks())]
		st.expect(t, after)
		t.Run(fmt.Sprintf("%s then %s", strings.ReplaceAll(place, "/", "_"), after.name), func(t *testing.T) {
			if st.failing(t, "fail:1:"+place, after) {
				d.tally.add(hook)
			}
		})
	}
}

// failing plays the scene once with a fault, and reports whether it struck.
func (st *stage) failing(t *testing.T, fault string, after next) bool {
	t.Helper()
	st.tape.rewind(t)
	p := st.ready.copyFor(t)
	for _, s := range p.sessions {
		s.Installed = false // to get the exit code of the hook itself
	}
	before, waiting := p.Git("rev-parse", "HEAD"), p.dangling()
	mark := p.during(st.hook, fault, func() { st.scene.act(p) })
	var faults []string
	linked := len(p.dangling()) == 0 && len(p.Trailers("HEAD")) > 0
	undecided := slices.Contains([]string{"prepare-commit-msg", "commit-msg"}, st.hook)
	if slices.Contains(commitHooks(), st.hook) && before != p.Git("rev-parse", "HEAD") && !linked && !strings.Contains(p.said, "entire: ") {
		faults = append(faults, fmt.Sprintf("the commit doesn't say that something is missing: %q", p.said))
	}
	if undecided {
		p.excused = strings.Fields(p.Git("log", "-1", "-m", "--name-only", "--format=", "HEAD"))
		faults = append(faults, slices.DeleteFunc(p.dangling(), func(f string) bool { return slices.Contains(waiting, f) })...)
	}
	after.run(p)
	if dangling := p.dangling(); len(dangling) > 0 {
		faults = append(append(faults, dangling...), "(right after the next hook)")
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
			faults = append(faults, "what is recorded (-no fault +fault):\n"+diff)
		}
	}
	if len(faults) > 0 {
		t.Errorf("%s, %s with %s at: %sthen %s:\n%s\nit said: %s\nlog:\n%s",
			st.scene.name, st.hook, fault, mark, after.name, strings.Join(faults, "\n"), p.said, p.complaints())
	}
	return mark != ""
}
