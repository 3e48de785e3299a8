package strategy_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// forget resets the session.
func (d *desk) forget(s *testkit.Session) {
	d.t.Helper()
	w := d.workspace()
	state, err := w.Sessions.Load(s.ID)
	d.must(err)
	d.must(w.Sessions.Forget(s.ID, state.Recorder.Cursor))
}

// prompts returns all recorded prompts of the session.
func (d *desk) prompts(s *testkit.Session) string {
	d.t.Helper()
	w := d.workspace()
	state, err := w.Sessions.Load(s.ID)
	d.must(err)
	data, err := w.Sessions.SideOf(state, "prompts").Read(state.Recorder.Prompts)
	d.must(err)
	return string(data)
}

// TestResetIsNotUndone: data from before a reset stays ignored, whatever happens to the hooks,
// the state and its side files after it.
func TestResetIsNotUndone(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(d *desk, in workspace.Input){
		"nothing": func(*desk, workspace.Input) {},
		"a hook doesn't get the lock": func(d *desk, in workspace.Input) {
			w := d.workspace()
			w.Options.LockTimeout = time.Millisecond
			held, err := disk.AcquireLock(context.Background(), filepath.Join(w.Repo.CommonDir, "entire", "lock"))
			d.must(err)
			if err := strategy.Prompt(context.Background(), w, in); err == nil {
				d.t.Error("the prompt got the lock")
			}
			d.must(held.Unlock())
		},
		"the new state is removed": func(d *desk, in workspace.Input) {
			_, err := strategy.SessionStart(context.Background(), d.workspace(), in)
			d.must(err)
			d.must(strategy.SessionEnd(context.Background(), d.workspace(), in)) // without a prompt it leaves no state
		},
		"the new state is damaged": func(d *desk, in workspace.Input) {
			w := d.workspace()
			d.must(strategy.Prompt(context.Background(), w, in))
			d.must(os.WriteFile(filepath.Join(w.Sessions.Dir(), in.SessionID+".json"), []byte("{"), 0o600))
		},
		"the new side files are lost": func(d *desk, in workspace.Input) {
			w := d.workspace()
			in.Prompt = "Please do something else."
			d.must(strategy.Prompt(context.Background(), w, in))
			d.must(strategy.Stop(context.Background(), w, in))
			state, err := w.Sessions.Load(in.SessionID)
			d.must(err)
			state.Recorder.Prompts, state.Recorder.Usage = 1<<20, 1<<20
			d.must(w.Sessions.Save(state))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.repo.Write("README.md", "text\n")
			d.repo.Commit("first")
			s := d.session("main")
			d.turn(s, 0, "before.txt")
			if !strings.Contains(d.prompts(s), "before.txt") {
				t.Fatalf("prompts: %s", d.prompts(s))
			}
			d.forget(s)
			harm(d, workspace.Input{SessionID: s.ID, Transcript: s.Transcript.Path, Prompt: "Again."})
			d.turn(s, 0, "after.txt")
			got := d.prompts(s)
			if strings.Contains(got, "before.txt") || !strings.Contains(got, "after.txt") {
				t.Errorf("prompts:\n%s\nlog:\n%s", got, d.log.String())
			}
			state, err := d.workspace().Sessions.Load(s.ID)
			d.must(err)
			if state.TranscriptStart == 0 {
				t.Error("the next checkpoint begins at the transcript's first line")
			}
		})
	}
}
