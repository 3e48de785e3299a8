package blameaccuracy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// pause lets 0 to 2 s pass: in half of the cases nothing, seldom more than half a second.
func (w *world) pause() {
	if !w.disturbed {
		return
	}
	within := func(least, most time.Duration) time.Duration {
		return least + time.Duration(w.random.Int64N(int64(most-least)))
	}
	const short, middle, long = 60 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second
	var d time.Duration
	switch what := w.random.IntN(100); {
	case what < 50:
		return
	case what < 75:
		d = within(0, short)
	case what < 95:
		d = within(short, middle)
	default:
		d = within(middle, long)
	}
	w.wait(d)
}

func (w *world) wait(d time.Duration) {
	w.note("  %v later", d.Round(time.Millisecond))
	testkit.Pass(w.TB, w.Env.Get("TMPDIR"), d)
}

// inTurn returns the person, who writes while a turn runs, and not in a file of the turn.
func (w *world) inTurn(kind Kind) hand {
	h := w.person()
	h.kind, h.avoids, h.touches = kind, w.theirs, w.mine
	return h
}

// write has the person change a file, or make one.
func (h hand) write() {
	if path := h.file(); path != "" && !h.w.chance(20) {
		h.edit(path)
	} else {
		h.create()
	}
}

// disturb plays, at random, what happens in a turn without the agent's doing.
func (w *world) disturb(a *agent) {
	if !w.disturbed {
		return
	}
	switch what := w.random.IntN(100); {
	case what < 10:
		w.note("the person in the turn:")
		w.inTurn(PersonInTurn).write()
	case what < 18:
		if path := w.changed(); path != "" && !w.alone {
			w.note("the person in the agent's file:")
			h := w.inTurn(PersonInFile)
			h.avoids = nil
			h.edit(path)
		}
	case what < 26:
		w.onSave()
	case what < 34:
		w.watch()
	case what < 38:
		w.note("the person commits in the turn")
		if (committer{w}).all() {
			(committer{w}).markCommits("HEAD~1..HEAD", CommittedInTurn)
		}
	case what < 42:
		w.refused(a)
	}
}

// changed chooses a file that the turn has changed, "" if there is none.
func (w *world) changed() string {
	h := hand{w: w, avoids: map[string]bool{}}
	for _, path := range w.tracked() {
		if !w.theirs[path] {
			h.avoids[path] = true
		}
	}
	return h.file()
}

// whileItRuns has the person write in another file while the next call runs.
func (w *world) whileItRuns(a *agent) {
	a.Meanwhile = func() {
		w.note("the person, while the call runs:")
		w.pause()
		w.inTurn(PersonInCall).write()
	}
}

// refused plays an edit that the user refuses and then makes by hand, maybe elsewhere.
func (w *world) refused(a *agent) {
	h := w.inTurn(PersonRefused)
	path := h.file()
	if path == "" {
		return
	}
	old := w.text(path)
	at := w.random.IntN(len(old))
	for len(w.counted(old[at:at+1])) == 0 {
		at = (at + 1) % len(old)
	}
	line := w.line(writer{}, PersonRefused)
	w.note("%s refused edit of %s at %d", a.prompt, path, at)
	a.Refuse(path, old[at], old[at]+"\n"+line)
	w.pause()
	h.replace(path, at+1, at+1, []string{line})
}

// onSave plays an editor that formats a file of the turn 0.3 s after the last call: it indents
// lines and adds semicolons.
func (w *world) onSave() {
	path := w.changed()
	if path == "" {
		return
	}
	const delay = 300 * time.Millisecond
	w.wait(delay)
	text := w.text(path)
	from := w.random.IntN(len(text))
	to := min(len(text), from+2+w.random.IntN(6))
	w.note("format on save: %d-%d of %s", from, to, path)
	for i := from; i < to; i++ {
		line := strings.TrimSpace(text[i])
		f := w.facts[line]
		if f == nil {
			continue
		}
		if w.chance(50) {
			text[i] = "\t" + text[i]
		}
		if !strings.HasSuffix(line, ";") {
			text[i] += ";"
			formatted := *f
			formatted.kinds = slices.Clone(f.kinds)
			w.facts[line+";"] = &formatted
		}
	}
	w.mark(text[from:to], SavedFormatted)
	w.Write(path, join(text))
}

// watch plays a watcher, which touches a file that was changed in the turn, or writes its content
// again.
func (w *world) watch() {
	h := hand{w: w, avoids: map[string]bool{}}
	for _, path := range w.tracked() {
		if !w.theirs[path] && !w.mine[path] {
			h.avoids[path] = true
		}
	}
	path := h.file()
	if path == "" {
		return
	}
	w.pause()
	w.note("watcher: %s", path)
	w.mark(w.text(path), Watched)
	switch w.random.IntN(3) {
	case 0:
		if err := os.Chtimes(w.Path(path), time.Time{}, time.Now()); err != nil {
			w.TB.Fatalf("touch: %v", err)
		}
	case 1:
		w.Write(path, w.Read(path))
	default:
		w.Write("new.tmp", w.Read(path))
		if err := os.Rename(w.Path("new.tmp"), w.Path(path)); err != nil {
			w.TB.Fatalf("replace: %v", err)
		}
	}
}

// end ends a turn: by a stop, by Esc, by a kill, or without any event.
func (w *world) end(a *agent) {
	what := w.random.IntN(100)
	follows := w.chance(60)
	switch {
	case !w.disturbed || what < 70:
		w.stop(a)
		return
	case what < 90:
		w.note("Esc: %s", a.prompt)
		a.Interrupt()
		if follows {
			w.markTurn(a, Interrupted)
		} else {
			w.markTurn(a, InterruptedLast)
		}
	case what < 96:
		w.note("killed: %s", a.prompt)
		w.markTurn(a, Killed)
		a.Die()
		a.dead = true
	default:
		w.note("no stop: %s", a.prompt)
		w.markTurn(a, Unstopped)
	}
	a.open = false
	if w.chance(40) {
		w.pause()
		w.note("the person after it:")
		h := w.person()
		h.kind = PersonAfterEnd
		h.write()
	}
	if follows && w.alone { // otherwise the other session's turn may not have ended
		w.turn(a)
	}
}

// markTurn adds a kind to the lines of the agent's turn.
func (w *world) markTurn(a *agent, kind Kind) {
	for line, f := range w.facts {
		if f.session == a.ID && f.prompt == a.prompt {
			w.mark([]string{line}, kind)
		}
	}
}

// open starts a new session of the agent with the name.
func (w *world) open(name string) *testkit.Session {
	s := testkit.NewSession(w.Repo, fmt.Sprintf("%s-%d-%d", name, w.seed, w.sessions), filepath.Join(w.Dir, "..", "claude"))
	w.sessions++
	if w.disturbed {
		s.Live()
	}
	s.Start("startup")
	return s
}

// revive starts the client of a killed session again, with the same session or a new one.
func (w *world) revive(a *agent) {
	a.dead = false
	if w.chance(50) {
		w.note("session %s is resumed", a.name)
		a.Live()
		a.Start("resume")
		return
	}
	w.note("session %s begins again", a.name)
	a.Session = w.open(a.name)
}

// between plays an edit, a shell command of the other session at that place, and another edit
// whose former text has the command's lines.
func (w *world) between(one, two *agent) {
	path := w.file()
	w.begin(one)
	w.begin(two)
	h := w.hand(one, false, AtOnceTogether)
	at := w.random.IntN(len(w.text(path)) + 1)
	lines := w.lines(3, h.by, h.kinds()...)
	w.note("%s inserts %d at %d in %s", one.prompt, len(lines), at, path)
	h.replace(path, at, at, lines)
	w.pause()
	at += len(lines)
	other := w.hand(two, true, AtOnceTogether, ShellBetween)
	lines = w.lines(3, other.by, other.kinds()...)
	w.note("%s inserts %d at %d in %s by shell", two.prompt, len(lines), at, path)
	other.replace(path, at, at, lines)
	w.pause()
	at += len(lines)
	h.before = len(lines) + 1
	lines = w.lines(3, h.by, h.kinds()...)
	w.note("%s inserts %d at %d in %s with %d lines before", one.prompt, len(lines), at, path, h.before)
	h.replace(path, at, at, lines)
	w.pause()
	if w.chance(50) {
		one, two = two, one
	}
	w.end(one)
	w.pause()
	w.end(two)
}
