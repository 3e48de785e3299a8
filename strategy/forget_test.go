package strategy_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/forget"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

func (d *desk) forgetting(what forget.What) *forget.Forgetting {
	d.t.Helper()
	f, err := forget.New(context.Background(), d.workspace(), what, func(string, int64, int64) {})
	d.must(err)
	return f
}

func (d *desk) forgetNow(f *forget.Forgetting) {
	d.t.Helper()
	r, err := f.Do(context.Background())
	d.must(err)
	for _, p := range r.Left {
		if !p.Stays {
			d.t.Errorf("left: %+v", p)
		}
	}
}

// TestForgetKeepsListOfConcurrentRun: if two runs ask their questions at the same time, the
// second adds to the list of the first.
func TestForgetKeepsListOfConcurrentRun(t *testing.T) {
	t.Parallel()
	const text, other = "the first private text", "the second private text"
	for name, second := range testkit.ShortTable(map[string]forget.What{
		"text":    {Text: other},
		"session": {Session: "11111111-2222-3333-4444-555555555555"},
		"file":    {File: "a.txt"},
	}, 1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.repo.Write("README.md", "text\n")
			d.repo.Commit("first")
			s := d.session("main")
			d.turn(s, 0, "a.txt")
			waiting := []*forget.Forgetting{
				d.forgetting(forget.What{Text: text}), d.forgetting(forget.What{Session: "99999999-2222-3333-4444-555555555555"}),
				d.forgetting(forget.What{File: "b.txt"}), d.forgetting(second),
			}
			for _, f := range waiting {
				d.forgetNow(f)
			}
			list, err := checkpoint.LoadTombstones(d.repo.CommonDir())
			d.must(err)
			if f := list.Forgetter(); f == nil || !f.Has([]byte("x "+text+" y")) || second.Text != "" && !f.Has([]byte(other)) {
				t.Errorf("texts: %+v", list)
			}
			if !list.HasSession("99999999-2222-3333-4444-555555555555") || second.Session != "" && !list.HasSession(second.Session) {
				t.Errorf("sessions: %q", list.Sessions)
			}
			if files := strings.Join(list.Files, " "); !strings.Contains(files, "b.txt") || second.File != "" && !strings.Contains(files, "a.txt") {
				t.Errorf("files: %q", files)
			}
		})
	}
}

// TestForgetDuringHooks forgets a text while a hook runs that has it, at each point
// where the hook reads the clock without the lock. Afterwards no ref or record contains the
// text, and the hook has done its work.
func TestForgetDuringHooks(t *testing.T) {
	testkit.Long(t, "each hook is run once for each moment of it")
	t.Parallel()
	const text = "correct horse battery staple"
	for name, h := range map[string]struct {
		// before plays the session up to the hook.
		before func(d *desk, s *testkit.Session)
		run    func(w *workspace.Workspace, in workspace.Input) error
		least  int // minimum number of points at which the text can be forgotten
	}{
		"prompt": {
			before: func(*desk, *testkit.Session) {}, least: 2,
			run: func(w *workspace.Workspace, in workspace.Input) error {
				in.Prompt = "Use " + text + "."
				return strategy.Prompt(context.Background(), w, in)
			},
		},
		"stop": {
			before: func(d *desk, s *testkit.Session) {
				d.prompt(s, 0)
				s.Prompt("Use " + text + ".")
				s.Write("a.txt", "one\n")
				s.Stop()
			}, least: 2,
			run: func(w *workspace.Workspace, in workspace.Input) error {
				if err := strategy.Stop(context.Background(), w, in); err != nil {
					return err
				}
				_, err := savedcontext.RecallStop(context.Background(), w, in)
				return err
			},
		},
		"start": {
			before: func(d *desk, s *testkit.Session) {
				in := d.in(s, 0)
				in.Prompt = "Use " + text + "."
				d.must(strategy.Prompt(context.Background(), d.workspace(), in))
				s.Prompt(in.Prompt)
				s.Write("a.txt", "one\n")
				s.Stop()
				d.must(strategy.Stop(context.Background(), d.workspace(), d.in(s, 0)))
				_, err := savedcontext.RecallStop(context.Background(), d.workspace(), d.in(s, 0))
				d.must(err)
				end := d.in(s, 0)
				end.Reason = "clear"
				d.must(savedcontext.RecallEnd(context.Background(), d.workspace(), end))
			}, least: 2,
			run: func(w *workspace.Workspace, in workspace.Input) error {
				in.SessionID, in.Source = "11111111-2222-3333-4444-555555555555", "clear"
				_, err := savedcontext.RecallStart(context.Background(), w, in)
				return err
			},
		},
		"post-commit": {
			before: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				s.Prompt("Use " + text + ".")
				d.commitWithoutPostCommit("a.txt")
			}, least: 2,
			run: func(w *workspace.Workspace, _ workspace.Input) error {
				return strategy.PostCommit(context.Background(), w)
			},
		},
		"complete": {
			before: func(d *desk, s *testkit.Session) {
				d.turn(s, 0, "a.txt")
				d.commit("a.txt")
				s.Prompt("Use " + text + ".")
			}, least: 1,
			run: func(w *workspace.Workspace, in workspace.Input) error {
				return strategy.Complete(context.Background(), w, in.SessionID)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			moments := 0
			for moment := 1; ; moment++ {
				d := newDesk(t)
				d.repo.Write("README.md", "text\n")
				d.repo.Commit("first")
				s := d.session("main")
				h.before(d, s)
				w, calls, forgotten := d.workspace(), 0, false
				w.Env.Caller = func() (proc.Info, bool) { return proc.Info{}, false }
				w.Env.Terminal = func() bool { return false }
				w.Env.Now = func() time.Time {
					if calls++; calls == moment {
						forgotten = d.tryForget(text)
					}
					return d.now
				}
				d.must(h.run(w, d.in(s, 0)))
				if calls < moment {
					break
				}
				if !forgotten {
					continue // the hook held the lock
				}
				moments++
				if where := d.recorded(text); len(where) > 0 {
					t.Errorf("moment %d: the text is in %q", moment, where)
				}
				if name == "post-commit" {
					d.repo.Git("cat-file", "-e", "entire/checkpoints/v1:"+d.repo.Trailers("HEAD")[0][:2])
				}
			}
			if t.Logf("%d moments", moments); moments < h.least {
				t.Error("too few")
			}
		})
	}
}

// tryForget forgets a text, unless the lock is held. It reports whether it did.
func (d *desk) tryForget(text string) bool {
	d.t.Helper()
	w := d.workspace()
	w.Options.LockTimeout = time.Millisecond
	f, err := forget.New(context.Background(), w, forget.What{Text: text}, func(string, int64, int64) {})
	d.must(err)
	_, err = f.Do(context.Background())
	if errors.Is(err, disk.ErrLocked) {
		return false
	}
	d.must(err)
	return true
}

// recorded returns the objects reachable from refs and the files of records that contain a
// text.
func (d *desk) recorded(text string) []string {
	d.t.Helper()
	var oids, found []string
	for line := range strings.Lines(d.repo.Git("rev-list", "--objects", "--no-object-names", "--all", "--reflog")) {
		oids = append(oids, strings.TrimSpace(line))
	}
	for i, content := range d.repo.Objects(oids) {
		if strings.Contains(string(content), text) {
			found = append(found, oids[i])
		}
	}
	for _, dir := range []string{"entire", "entire-sessions"} {
		err := filepath.WalkDir(d.own(dir), func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if strings.Contains(string(data), text) {
				found = append(found, path)
			}
			return err
		})
		d.must(err)
	}
	return found
}
