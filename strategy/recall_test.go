package strategy_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// desk is a repository in which sessions work. The test calls their hooks instead of running
// them as processes.
type desk struct {
	t    testing.TB
	repo *testkit.Repo
	log  bytes.Buffer
	now  time.Time
	opts settings.Recall
	// children are the arguments of the started children.
	children [][]string
	alive    map[int]bool
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	dir := t.TempDir()
	repo, unsupported := testkit.NewRepo(t, filepath.Join(dir, "w"), "plain", testkit.CleanEnv(dir, dir, os.Getenv("PATH")))
	if unsupported {
		t.Fatal("no plain repository can be made")
	}
	d := &desk{t: t, repo: repo, now: time.Now(), alive: map[int]bool{}}
	d.opts = settings.Load(settings.Sources{Home: dir, Getenv: func(string) string { return "" }}).Recall
	return d
}

// workspace returns the workspace of one hook.
func (d *desk) workspace() *workspace.Workspace {
	d.t.Helper()
	opened, err := git.Discover(git.Locate{Dir: d.repo.Dir, Environ: d.repo.Env})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = opened.Close() })
	home := filepath.Dir(d.repo.Dir)
	w := &workspace.Workspace{
		Repo: opened, Sessions: session.Open(opened.CommonDir), Redact: redact.New(),
		Log:     slog.New(slog.NewTextHandler(&d.log, nil)),
		Options: workspace.Options{LockTimeout: time.Minute, Recall: d.opts},
		Env: workspace.Environment{
			Now: func() time.Time { return d.now }, Getenv: func(string) string { return "" }, Say: func(string) {},
			Random: rand.Reader, Home: home, Version: "test",
			Alive:    func(pid int, _ uint64) bool { return d.alive[pid] },
			Detach:   func(args ...string) error { d.children = append(d.children, args); return nil },
			Registry: &registry.Registry{Home: filepath.Join(home, ".agentfs"), UserHome: home, Now: time.Now},
		},
	}
	_ = w.MaskForgotten() // an error is logged, as for a damaged list
	return w
}

// session returns a session with a transcript, whose hooks the test calls.
func (d *desk) session(name string) *testkit.Session {
	d.t.Helper()
	s := testkit.NewSession(d.repo, name, filepath.Join(filepath.Dir(d.repo.Dir), "claude"))
	s.Deaf = true
	return s
}

func (d *desk) in(s *testkit.Session, pid int) workspace.Input {
	in := workspace.Input{SessionID: s.ID, Transcript: s.Transcript.Path, Summary: "Done."}
	if pid != 0 {
		in.Agent = session.Process{PID: pid, Start: 1}
		d.alive[pid] = true
	}
	return in
}

// turn plays a whole turn that writes files.
func (d *desk) turn(s *testkit.Session, pid int, paths ...string) {
	d.t.Helper()
	in := d.in(s, pid)
	in.Prompt = "Please write " + strings.Join(paths, " and ") + " for me."
	d.must(strategy.Prompt(context.Background(), d.workspace(), in))
	s.Prompt(in.Prompt)
	for _, p := range paths {
		s.Write(p, "one\ntwo\nthree "+d.now.String()+"\n")
	}
	s.Stop()
	in.Prompt = ""
	w := d.workspace()
	d.must(strategy.Stop(context.Background(), w, in))
	_, err := savedcontext.RecallStop(context.Background(), w, in)
	d.must(err)
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatalf("%v\nlog:\n%s", err, d.log.String())
	}
}

// kept lists cause and status of the saved contexts, newest first.
func (d *desk) kept() []string {
	d.t.Helper()
	list, err := savedcontext.Contexts(d.workspace()).List(context.Background(), contextstore.Filter{})
	d.must(err)
	got := []string{}
	for _, e := range list {
		got = append(got, string(e.Cause)+"/"+string(e.Status))
	}
	return got
}

func (d *desk) want(want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), d.kept()); diff != "" {
		d.t.Fatalf("checkpoints (-want +got):\n%s", diff)
	}
}

func clearing(s *testkit.Session, prompt string) savedcontext.Clearing {
	return savedcontext.Clearing{SessionID: s.ID, PromptID: prompt}
}

func TestClearAsksAboutChanges(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	s := d.session("main")
	d.turn(s, 7, "a.txt", "b.txt")
	_, err := savedcontext.SaveContext(ctx, d.workspace(), savedcontext.Saving{SessionID: s.ID, Summary: "by hand"})
	d.must(err)
	saved := d.now
	d.now = d.now.Add(45 * time.Minute)
	d.turn(s, 7, "b.txt", "c.txt")
	unsaved, err := savedcontext.BeforeClear(ctx, d.workspace(), clearing(s, "p1"))
	d.must(err)
	if !unsaved.Ask || unsaved.ID == "" || unsaved.Files != 2 || unsaved.Added != 4 || !unsaved.Last.Equal(saved.UTC().Truncate(time.Second)) {
		t.Errorf("unsaved: %+v", unsaved)
	}
	d.want("clear/pending", "requested/kept")
	again, err := savedcontext.BeforeClear(ctx, d.workspace(), clearing(s, "p1"))
	d.must(err)
	if diff := cmp.Diff(unsaved, again); diff != "" {
		t.Errorf("asked twice (-first +second):\n%s", diff)
	}
}

func TestAnswerToClear(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  savedcontext.ClearAnswer
		want    []string
		told    string
		nothing bool
	}{
		"kept":        {answer: savedcontext.KeepIt, want: []string{"clear/kept"}, told: "Checkpoint saved: "},
		"discarded":   {answer: savedcontext.DiscardIt, nothing: true},
		"no answer":   {answer: savedcontext.NoAnswer, want: []string{"clear/pending"}, told: "Discard it: entire recall discard "},
		"not at once": {answer: savedcontext.KeepIt, want: []string{"clear/kept"}, told: "Checkpoint saved: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			d := newDesk(t)
			s := d.session("main")
			d.turn(s, 7, "a.txt")
			end := d.in(s, 7)
			end.Reason, end.PromptID = "clear", "p1"
			if name == "not at once" {
				d.must(savedcontext.RecallEnd(ctx, d.workspace(), end))
			}
			unsaved, err := savedcontext.BeforeClear(ctx, d.workspace(), clearing(s, "p1"))
			d.must(err)
			if !unsaved.Ask {
				t.Fatalf("nobody is asked: %+v", unsaved)
			}
			d.must(savedcontext.AnswerClear(ctx, d.workspace(), clearing(s, "p1"), c.answer))
			d.must(savedcontext.AnswerClear(ctx, d.workspace(), clearing(s, "p1"), c.answer))
			d.must(savedcontext.RecallEnd(ctx, d.workspace(), end)) // the hook may run last
			d.want(c.want...)
			next := workspace.Input{SessionID: "next", Source: "clear", Agent: end.Agent}
			o, err := savedcontext.PrepareOpening(ctx, d.workspace(), next)
			d.must(err)
			if text := strings.Join(o.Messages, "\n"); !strings.Contains(text, c.told) || (len(o.Parts) == 0) != c.nothing {
				t.Errorf("told %q, %d parts", text, len(o.Parts))
			}
		})
	}
}

func TestHookAndServerSaveOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	s := d.session("main")
	d.turn(s, 7, "a.txt")
	end := d.in(s, 7)
	end.Reason, end.PromptID = "clear", "p1"
	var both sync.WaitGroup
	workspaces := []*workspace.Workspace{d.workspace(), d.workspace(), d.workspace(), d.workspace()}
	failed := make([]error, len(workspaces))
	for i, w := range workspaces {
		both.Go(func() {
			if i%2 == 0 {
				failed[i] = savedcontext.RecallEnd(ctx, w, end)
				return
			}
			_, failed[i] = savedcontext.BeforeClear(ctx, w, clearing(s, "p1"))
		})
	}
	both.Wait()
	d.must(errors.Join(failed...))
	d.want("clear/pending")
}

func TestSecondClearIsSeparate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	s := d.session("main")
	d.turn(s, 7, "a.txt")
	_, err := savedcontext.BeforeClear(ctx, d.workspace(), clearing(s, "p1"))
	d.must(err)
	d.must(savedcontext.AnswerClear(ctx, d.workspace(), clearing(s, "p1"), savedcontext.DiscardIt))
	unsaved, err := savedcontext.BeforeClear(ctx, d.workspace(), clearing(s, "p2"))
	d.must(err)
	if !unsaved.Ask {
		t.Error("what was discarded once is not asked about again")
	}
	d.must(savedcontext.AnswerClear(ctx, d.workspace(), clearing(s, "p2"), savedcontext.KeepIt))
	unsaved, err = savedcontext.BeforeClear(ctx, d.workspace(), clearing(s, "p3"))
	d.must(err)
	if unsaved.Ask || unsaved.ID != "" {
		t.Errorf("asked about what is kept: %+v", unsaved)
	}
	d.want("clear/kept")
}

func TestDiscardedContextCountsAsUnsaved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	s := d.session("main")
	d.turn(s, 7, "a.txt")
	c, err := savedcontext.SaveContext(ctx, d.workspace(), savedcontext.Saving{})
	d.must(err)
	d.must(savedcontext.Contexts(d.workspace()).Discard(ctx, c.ID))
	unsaved, err := savedcontext.BeforeClear(ctx, d.workspace(), clearing(s, "p1"))
	d.must(err)
	if !unsaved.Ask || !unsaved.Last.IsZero() {
		t.Errorf("unsaved: %+v", unsaved)
	}
}

func TestQuestionAfterClear(t *testing.T) {
	t.Parallel()
	for choice, want := range map[settings.Choice]bool{settings.Prompt: true, settings.Always: false, settings.Never: false} {
		t.Run(string(choice), func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			d := newDesk(t)
			d.opts.OnStart = choice
			s := d.session("main")
			d.turn(s, 7, "a.txt")
			end := d.in(s, 7)
			end.Reason, end.PromptID = "clear", "p1"
			d.must(savedcontext.RecallEnd(ctx, d.workspace(), end))
			told, ask, err := savedcontext.AfterClear(ctx, d.workspace(), savedcontext.Clearing{SessionID: "next", Agent: end.Agent})
			d.must(err)
			if ask != want || ask && (len(told.Brief.Parts) == 0 || !strings.HasPrefix(told.Brief.Message, "Resumed from checkpoint: ")) {
				t.Errorf("ask %v, %+v", ask, told.Brief)
			}
		})
	}
}

func TestServerFindsSessionOfItsAgent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	d.opts.OnStart = settings.Prompt
	const mine, others = 7, 9
	for pid, name := range map[int]string{mine: "main", others: "other"} {
		d.now = d.now.Add(time.Second)
		d.turn(d.session(name), pid, name+".txt")
	}
	for _, pid := range []int{mine, others} { // the other session is cleared last
		s := d.session(map[int]string{mine: "main", others: "other"}[pid])
		d.now = d.now.Add(time.Second)
		end := d.in(s, pid)
		end.Reason, end.PromptID = "clear", "p1"
		d.must(savedcontext.RecallEnd(ctx, d.workspace(), end))
	}
	above := []session.Process{{PID: 100, Start: 1}, {PID: mine, Start: 1}, {PID: others, Start: 1}}
	told, ask, err := savedcontext.AfterClear(ctx, d.workspace(), savedcontext.Clearing{SessionID: "next", Above: above})
	d.must(err)
	if _, ok := told.Checkpoint.State.Files["main.txt"]; !ask || !ok {
		t.Errorf("ask %v about %q", ask, told.Checkpoint.Summary)
	}
}

func TestServerBriefIsOnePart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	d.opts.OnStart = settings.Prompt
	s := d.session("main")
	for i := range 3 {
		s.Write(fmt.Sprintf("file%d.txt", i), strings.Repeat("a line of the file\n", 250))
	}
	d.turn(s, 7, "a.txt")
	end := d.in(s, 7)
	end.Reason, end.PromptID = "clear", "p1"
	d.must(savedcontext.RecallEnd(ctx, d.workspace(), end))
	told, _, err := savedcontext.AfterClear(ctx, d.workspace(), savedcontext.Clearing{SessionID: "next", Agent: end.Agent})
	d.must(err)
	text := strings.Join(told.Brief.Parts, "")
	if len(told.Brief.Parts) != 1 || !strings.Contains(text, "file0.txt") || !strings.Contains(text, "file2.txt") {
		t.Errorf("%d parts:\n%s", len(told.Brief.Parts), text)
	}
}

func TestAgeOfLostSession(t *testing.T) {
	t.Parallel()
	for age, whole := range map[time.Duration]bool{time.Hour: true, 72 * time.Hour: false} {
		t.Run(age.String(), func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			d := newDesk(t)
			d.turn(d.session("main"), 7, "a.txt")
			d.alive[7] = false
			d.now = d.now.Add(age)
			o, err := savedcontext.RecallStart(ctx, d.workspace(), workspace.Input{SessionID: "next", Source: "startup", Agent: session.Process{PID: 8, Start: 1}})
			d.must(err)
			d.want("lost/kept")
			text := strings.Join(o.Parts, "")
			if strings.HasPrefix(text, "Resumed from checkpoint: ") != whole || text == "" {
				t.Errorf("told %q", text)
			}
		})
	}
}

func TestSaveWithoutSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, err := savedcontext.SaveContext(context.Background(), d.workspace(), savedcontext.Saving{}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := savedcontext.Recall(context.Background(), d.workspace(), "", brief.Full); !errors.Is(err, recall.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := savedcontext.Recall(context.Background(), d.workspace(), "abcd", brief.Full); !errors.Is(err, recall.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := savedcontext.BeforeClear(context.Background(), d.workspace(), savedcontext.Clearing{SessionID: "../x"}); !errors.Is(err, session.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

func TestSaveKeepsRequestedFields(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	d.turn(d.session("main"), 7, "a.txt")
	c, err := savedcontext.SaveContext(ctx, d.workspace(), savedcontext.Saving{
		Summary: "by hand", Description: "at length", Tags: []string{"x"}, Mode: recall.SummaryMode,
	})
	d.must(err)
	got, err := savedcontext.Contexts(d.workspace()).Get(ctx, c.ID)
	d.must(err)
	f := got.State.Files["a.txt"]
	if got.Summary != "by hand" || got.Description != "at length" || len(got.Tags) != 1 || got.Status != recall.Kept ||
		got.Cause != recall.Requested || f.Hash == "" || f.Blob != "" || f.Omitted != recall.NotWanted {
		t.Errorf("saved %+v", got)
	}
}

func TestUnreadableMemoryIsRebuilt(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	s := d.session("main")
	d.turn(s, 7, "a.txt")
	for _, damage := range []string{"", "{", "null\nnull\n", "[]\n{}", "{\"seen\":1}\n\n", "\x00\n"} {
		w := d.workspace()
		d.must(w.Sessions.Side(s.ID, session.RecallKind).Replace([]byte(damage)))
		c, err := savedcontext.SaveContext(ctx, w, savedcontext.Saving{})
		d.must(err)
		if _, ok := c.State.Files["a.txt"]; !ok {
			t.Errorf("after %q the file is missing", damage)
		}
	}
}

// BenchmarkRecallStop measures the work at a stop: a transcript of 20 MB with a turn's new
// lines, and five files that the turn changed.
func BenchmarkRecallStop(b *testing.B) {
	ctx := context.Background()
	d := newDesk(b)
	s := d.session("main")
	s.Prompt("Please go on for long.")
	line := "lorem ipsum dolor sit amet " + strings.Repeat("x", 80)
	for range 200 {
		s.Transcript.Raw(`{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"` +
			strings.Repeat(line, 900) + `"}]}}` + "\n")
	}
	d.turn(s, 7, "a.txt")
	d.must(savedcontext.FinishRecall(ctx, d.workspace(), s.ID))
	for b.Loop() {
		b.StopTimer()
		s.Prompt("Please write some files for me now.")
		for _, p := range []string{"a.txt", "b.txt", "c.txt", "d.txt", "e.txt"} {
			s.Write(p, strings.Repeat("a line of a file\n", 200)+d.now.String())
		}
		s.Say(strings.Repeat("What I did. ", 500))
		s.Stop()
		d.now = d.now.Add(time.Second)
		in := d.in(s, 7)
		w := d.workspace()
		if _, err := w.Repo.Commit(ctx, "HEAD"); err != nil { // the stop has already started that process
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := savedcontext.RecallStop(ctx, w, in); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		_ = w.Repo.Close()
		b.StartTimer()
	}
}

func TestFirstPromptGetsBriefOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	s := d.session("main")
	d.turn(s, 7, "a.txt")
	end := d.in(s, 7)
	end.Reason = "other"
	d.must(savedcontext.RecallEnd(ctx, d.workspace(), end))
	next := workspace.Input{SessionID: "next", Source: "startup", Agent: session.Process{PID: 8, Start: 1}, PromptContext: true}
	o, err := savedcontext.PrepareOpening(ctx, d.workspace(), next)
	d.must(err)
	if o.Checkpoint == "" || len(o.Parts) != 1 {
		t.Fatalf("opening %+v", o)
	}
	again, err := savedcontext.PrepareOpening(ctx, d.workspace(), next)
	d.must(err)
	if !slices.Equal(again.Parts, o.Parts) {
		t.Errorf("a second hook of the start got %q", again.Parts)
	}
	next.Prompt = "continue with a.txt"
	var all sync.WaitGroup
	texts, failed := make([]string, 4), make([]error, 4)
	for i := range texts {
		w := d.workspace()
		all.Go(func() { texts[i], failed[i] = savedcontext.RecallPrompt(ctx, w, next) })
	}
	all.Wait()
	d.must(errors.Join(failed...))
	given := slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	if len(given) != 1 || !strings.HasPrefix(given[0], "Resumed from checkpoint: ") {
		t.Errorf("given: %q", given)
	}
}

func TestPlanAsFirstPromptGetsBriefOfNamedFiles(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	s := d.session("main")
	d.turn(s, 7, "ledger.txt")
	end := d.in(s, 7)
	end.Reason = "other"
	d.must(savedcontext.RecallEnd(ctx, d.workspace(), end))
	for i, test := range []struct {
		prompt string
		given  bool
	}{
		{"Implement the following plan:\n\n# Sort the ledger\n\nChange `ledger.txt` so that the newest entry is first.", true},
		{"Implement the following plan:\n\n# Dark mode\n\nAdd a palette to `theme.css`.", false},
	} {
		next := workspace.Input{SessionID: fmt.Sprintf("next-%d", i), Source: "startup", Agent: session.Process{PID: 8, Start: 1}, PromptContext: true}
		_, err := savedcontext.PrepareOpening(ctx, d.workspace(), next)
		d.must(err)
		next.Prompt = test.prompt
		text, err := savedcontext.RecallPrompt(ctx, d.workspace(), next)
		d.must(err)
		if (text != "") != test.given {
			t.Errorf("%q: given %q", test.prompt, text)
		}
	}
}

func TestStateNamesCommitAfterCheckpoint(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	s := d.session("main")
	d.turn(s, 7, "a.txt")
	end := d.in(s, 7)
	end.Reason = "other"
	d.must(savedcontext.RecallEnd(ctx, d.workspace(), end))
	d.repo.Git("add", "a.txt")
	d.repo.Git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "ledger: sort the newest first")
	next := workspace.Input{SessionID: "next", Source: "startup", Agent: session.Process{PID: 8, Start: 1}}
	o, err := savedcontext.PrepareOpening(ctx, d.workspace(), next)
	d.must(err)
	if text := strings.Join(o.Parts, "\n"); !strings.Contains(text, ": ledger: sort the newest first") || strings.Contains(text, "not committed") {
		t.Errorf("given: %q", text)
	}
}

func TestFullBriefAtStartWithoutPromptContext(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newDesk(t)
	s := d.session("main")
	d.turn(s, 7, "a.txt")
	end := d.in(s, 7)
	end.Reason = "other"
	d.must(savedcontext.RecallEnd(ctx, d.workspace(), end))
	next := workspace.Input{SessionID: "next", Source: "startup", Agent: session.Process{PID: 8, Start: 1}}
	o, err := savedcontext.PrepareOpening(ctx, d.workspace(), next)
	d.must(err)
	if text := strings.Join(o.Parts, "\n"); !strings.Contains(text, "worktree ") {
		t.Errorf("given: %q", text)
	}
	next.Prompt = "continue with a.txt"
	if text, err := savedcontext.RecallPrompt(ctx, d.workspace(), next); err != nil || text != "" {
		t.Errorf("with the prompt: %q, %v", text, err)
	}
}
