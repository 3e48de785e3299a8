package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// longResult returns a tool result of about size bytes, all of it secrets.
func longResult(size int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "api_key = %016x%016x\n", rng.Uint64(), rng.Uint64())
	}
	return b.String()
}

// transcriptOf returns the stored transcript of a checkpoint.
func (d *desk) transcriptOf(id string) string {
	d.t.Helper()
	dir := "entire/checkpoints/v1:" + id[:2] + "/" + id[2:] + "/0/"
	var all strings.Builder
	for name := range strings.FieldsSeq(d.repo.Git("ls-tree", "--name-only", dir)) {
		if strings.HasPrefix(name, "full.jsonl") {
			all.WriteString(strings.TrimSuffix(d.repo.Git("cat-file", "blob", dir+name), "\n") + "\n")
		}
	}
	return all.String()
}

// TestAttackLongResultOfATool: a child whose deadline passes at a long line exits. The stored
// lines are kept, the checkpoint is marked as incomplete, and the next child continues after
// them. A line that exceeds the time limit of a line is left out.
func TestAttackLongResultOfATool(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Second
	for name, c := range map[string]struct {
		size        int
		lineTimeout time.Duration
	}{"completed": {1 << 20, 0}, "12 MB completed": {12_000_000, 0}, "left out": {12_000_000, 20 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size, lineTimeout := c.size, c.lineTimeout
			if lineTimeout == 0 {
				testkit.Long(t, "half a minute with the race detector")
			}
			if size > 1<<20 && lineTimeout == 0 && os.Getenv("ENTIRE_TEST_ATTACK") == "" {
				t.Skip("part of make attack: 12 MB of secrets take a child half a minute")
			}
			ctx := context.Background()
			d := newDesk(t)
			d.repo.Write("README.md", "text\n")
			d.repo.Commit("first")
			s := d.session("main")
			in := d.in(s, 0)
			in.Prompt = "Please write a.txt for me."
			d.must(strategy.Prompt(ctx, d.workspace(), in))
			s.Prompt(in.Prompt)
			for range 80 {
				s.Say(strings.Repeat("Some text. ", 1000)) // more than hooks store
			}
			s.Transcript.Raw(`{"type":"user","uuid":"4b1b5f2e-0000-4000-8000-000000000000","message":{"role":"user","content":[` +
				`{"type":"tool_result","tool_use_id":"t","content":"` + strings.ReplaceAll(longResult(size), "\n", `\n`) + `"}]}}` + "\n")
			s.Write("a.txt", "one\n")
			s.Stop()
			in.Prompt, in.Summary = "", ""
			d.must(strategy.Stop(ctx, d.workspace(), in))
			d.repo.Write("../message", "a\n")
			message := filepath.Join(filepath.Dir(d.repo.Dir), "message")
			d.repo.Git("add", "a.txt")
			hook := func() *workspace.Workspace {
				w := d.workspace()
				w.Env.Caller = func() (proc.Info, bool) { return proc.Info{}, false }
				w.Env.Terminal = func() bool { return false }
				return w
			}
			d.must(strategy.PrepareCommitMsg(ctx, hook(), record.CommitMessage{File: message}))
			d.repo.Git("commit", "-q", "--no-verify", "-F", message)
			d.must(strategy.PostCommit(ctx, hook()))
			id := strings.TrimSpace(d.repo.Git("log", "-1", "--format=%(trailers:key="+checkpoint.TrailerKey+",valueonly)"))
			state, err := d.workspace().Sessions.Load(s.ID)
			d.must(err)
			if id == "" || !slices.Contains(state.Recorder.Incomplete, id) {
				t.Fatalf("checkpoint %q, incomplete are %q", id, state.Recorder.Incomplete)
			}
			before := state.Recorder.Stored.Raw

			if lineTimeout == 0 {
				short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
				err = strategy.Complete(short, d.workspace(), s.ID)
				end, _ := short.Deadline()
				late := time.Since(end)
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) || late > patience {
					t.Errorf("child: %v, %v after its deadline", err, late)
				}
				state, err = d.workspace().Sessions.Load(s.ID)
				d.must(err)
				if !slices.Contains(state.Recorder.Incomplete, id) {
					t.Errorf("incomplete are %q", state.Recorder.Incomplete)
				}
				if state.Recorder.Stored.Raw <= before {
					t.Error("what the child stored before the long line is lost")
				}
			}

			w := d.workspace()
			w.Options.LineTimeout = lineTimeout
			d.must(strategy.Complete(ctx, w, s.ID))
			state, err = d.workspace().Sessions.Load(s.ID)
			d.must(err)
			if len(state.Recorder.Incomplete) > 0 {
				t.Errorf("incomplete are %q", state.Recorder.Incomplete)
			}
			stored := d.transcriptOf(id)
			if got, want := strings.Count(stored, "\n"), len(s.Transcript.Lines()); got != want {
				t.Errorf("%d lines are stored of %d", got, want)
			}
			omitted := strings.Contains(stored, `{"type":"entire-omitted","bytes":`)
			if omitted != (lineTimeout > 0) || strings.Contains(d.log.String(), "left out") != omitted {
				t.Errorf("omitted: %v\n%s", omitted, d.log.String())
			}
			if !omitted && !strings.Contains(stored, `api_key = REDACTED\napi_key = REDACTED`) {
				t.Error("the result is not there")
			}
		})
	}
}

// TestAttackLongPrompt: a prompt of megabytes of secrets is recorded within the time limit of a
// hook.
func TestAttackLongPrompt(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "a prompt of 8 MB")
	d := newDesk(t)
	d.repo.Write("README.md", "text\n")
	d.repo.Commit("first")
	s := d.session("main")
	in := d.in(s, 0)
	in.Prompt = longResult(8 << 20)
	in.Summary = in.Prompt
	s.Prompt(in.Prompt)
	most := 5 * time.Second
	if testing.Short() { // the race detector takes ten times as long
		most = time.Minute
	}
	for _, hook := range []func(context.Context, *workspace.Workspace, workspace.Input) error{strategy.Prompt, strategy.Stop} {
		ctx, cancel := context.WithTimeout(t.Context(), most)
		d.must(hook(ctx, d.workspace(), in))
		cancel()
	}
	state, err := d.workspace().Sessions.Load(in.SessionID)
	d.must(err)
	if prompts := d.prompts(s); len(prompts) > 128<<10 || strings.Count(prompts, "api_key = REDACTED") < 1000 ||
		!strings.HasPrefix(state.FirstPrompt, "api_key = REDACTED") {
		t.Errorf("%d bytes of prompts, the first is %.100q", len(prompts), state.FirstPrompt)
	}
}

// TestChildIsStartedOnlyForWork: no child is started by hooks that store the transcript to its
// end, but one is if the turn's last message is missing.
func TestChildIsStartedOnlyForWork(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo.Write("README.md", "text\n")
	d.repo.Commit("first")
	s := d.session("main")
	completions := func() (n int) {
		for _, args := range d.children {
			if len(args) > 1 && args[1] == "complete" {
				n++
			}
		}
		return n
	}
	d.turn(s, 0, "a.txt")
	d.commit("a.txt")
	d.turn(s, 0, "b.txt")
	if completions() > 0 {
		t.Errorf("nothing is left to do: %q", d.children)
	}
	d.prompt(s, 0)
	s.Write("c.txt", "one\n")
	in := d.in(s, 0)
	in.Summary = "A message that the transcript lacks."
	d.must(strategy.Stop(context.Background(), d.workspace(), in))
	d.commit("c.txt")
	if completions() == 0 {
		t.Errorf("no child stores the last message: %q", d.children)
	}
}
