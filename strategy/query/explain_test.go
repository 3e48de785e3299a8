package query_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy/query"
)

const id = checkpoint.ID("a1b2c3d4e5f6")

// fixture is a repository whose HEAD names the checkpoint id.
type fixture struct {
	*testkit.Repo

	reader query.CheckpointReader
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	dir := t.TempDir()
	repo, _ := testkit.NewRepo(t, dir, "plain", testkit.CleanEnv(dir, dir, os.Getenv("PATH")))
	repo.Write("a.txt", "a\n")
	repo.Commit("Change\n\n" + checkpoint.TrailerKey + ": " + string(id))
	opened, err := git.Discover(git.Locate{Dir: repo.Dir, Environ: repo.Env})
	must(t, err)
	t.Cleanup(func() { must(t, opened.Close()) })
	return fixture{Repo: repo, reader: query.CheckpointReader{Repo: opened}}
}

// put stores a session in the checkpoint, with lines as its transcript.
func (f fixture) put(t *testing.T, meta checkpoint.SessionMeta, lines ...string) {
	t.Helper()
	slot := checkpoint.Slot{Meta: meta, Prompts: []string{"the last prompt"}}
	if len(lines) > 0 {
		oid, err := f.reader.Repo.WriteBlob([]byte(strings.Join(lines, "\n")))
		must(t, err)
		slot.Transcript = checkpoint.StoredTranscript{Segments: []git.OID{oid}, Hash: "sha256:" + strings.Repeat("0", 64)}
	}
	change := checkpoint.Change{ID: id, Next: func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
		next, err := checkpoint.Put(ctx, f.reader.Repo, at, id, slot, checkpoint.SummaryInfo{Strategy: checkpoint.ManualCommit})
		return next, checkpoint.CommitMessage(id, meta, ""), err
	}}
	by := git.Signature{Name: "Ada Tester", Email: "ada@example.com", When: time.Unix(1_770_000_000, 0)}
	must(t, checkpoint.Update(t.Context(), f.reader.Repo, checkpoint.BranchesFirst, by, []checkpoint.Change{change}, nil))
}

func (f fixture) detail(t *testing.T, o query.ExplainOptions) query.Detail {
	t.Helper()
	d, err := f.reader.Checkpoint(t.Context(), "a1b2", o)
	must(t, err)
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func asked(text string) string { return `{"type":"user","message":{"content":"` + text + `"}}` }

func answered(text string) string {
	return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"},{"type":"tool_use","id":"` + text + `","name":"Bash","input":{"command":"make ` + text + `"}}]}}`
}

func failed(text string) string {
	return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"` + text + `","is_error":true}]}}`
}

func TestTextOfPart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	lines := []string{asked("one"), answered("1"), asked("two"), answered("2"), failed("2"), asked("three")}
	f.put(t, checkpoint.SessionMeta{SessionID: "s1", TranscriptStart: 2, TranscriptEnd: 5, TranscriptLines: 6}, lines...)
	const want = "[User] two\n\n[Assistant] 2\n\n[Tool] Bash: make 2 (failed)\n"
	if diff := cmp.Diff(want, f.detail(t, query.ExplainOptions{}).Sessions[0].Text()); diff != "" {
		t.Error(diff)
	}
	if whole := f.detail(t, query.ExplainOptions{Scope: query.Whole}).Sessions[0].Items; len(whole) != 7 {
		t.Errorf("%d items", len(whole))
	}
}

func TestInvalidSpanIsHarmless(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ start, end, lines, want int }{
		"begins behind the end":  {900, 0, 0, 0},
		"ends before it begins":  {2, 1, 3, 0},
		"negative":               {-5, -1, -3, 3},
		"fewer lines than there": {1, 0, 2, 2},
		"more lines than there":  {1, 0, 2_000_000_000, 2},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			meta := checkpoint.SessionMeta{SessionID: "s1", TranscriptStart: c.start, TranscriptEnd: c.end, TranscriptLines: c.lines}
			f.put(t, meta, asked("one"), asked("two"), asked("three"))
			if got := len(f.detail(t, query.ExplainOptions{}).Sessions[0].Items); got != c.want {
				t.Errorf("%d items, want %d", got, c.want)
			}
		})
	}
}

func TestGist(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		summary, intent, outcome string
		lines                    []string
	}{
		"summary":           {`{"intent":"i","outcome":"o","friction":["f"]}`, "i", "o", []string{asked("one")}},
		"none":              {``, "one", "2", []string{asked("one"), answered("1"), asked("two"), answered("2")}},
		"in mid-turn":       {``, "the last prompt", "1", []string{answered("1")}},
		"no transcript":     {``, "the last prompt", "", nil},
		"damaged summary":   {`["x"]`, "one", "", []string{asked("one")}},
		"empty summary":     {`{}`, "one", "", []string{asked("one")}},
		"summary's members": {`{"intent":7}`, "one", "", []string{asked("one")}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.put(t, checkpoint.SessionMeta{SessionID: "s1", Summary: json.RawMessage(c.summary)}, c.lines...)
			part := f.detail(t, query.ExplainOptions{}).Sessions[0]
			if part.Intent != c.intent || part.Outcome != c.outcome {
				t.Errorf("intent %q, outcome %q", part.Intent, part.Outcome)
			}
		})
	}
}

func TestTokensOfAllSessionsAddUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put(t, checkpoint.SessionMeta{SessionID: "s1", TokenUsage: &checkpoint.Tokens{Input: 1, Subagents: &checkpoint.Tokens{Output: 5}}})
	f.put(t, checkpoint.SessionMeta{SessionID: "s2", TokenUsage: &checkpoint.Tokens{Input: 2, Subagents: &checkpoint.Tokens{Output: 6}}})
	f.put(t, checkpoint.SessionMeta{SessionID: "s3"})
	want := &checkpoint.Tokens{Input: 3, Subagents: &checkpoint.Tokens{Output: 11}}
	if diff := cmp.Diff(want, f.detail(t, query.ExplainOptions{}).Tokens); diff != "" {
		t.Error(diff)
	}
}

func TestUnreadableCheckpointIsReportedMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put(t, checkpoint.SessionMeta{SessionID: "s1"})
	const broken = "ffffffffffff"
	f.Sh(`git switch -q entire/checkpoints/v1 && mkdir -p ff/ffffffffff && echo '{"x":1}' > ff/ffffffffff/metadata.json &&
		git add ff && git commit -qm x && git switch -q main`)
	f.Sh(`rm -f .git/objects/$(git rev-parse entire/checkpoints/v1:ff/ffffffffff/metadata.json | sed 's|^..|&/|')`)
	f.Git("commit", "-q", "--allow-empty", "-m", "Broken\n\n"+checkpoint.TrailerKey+": "+broken)
	l, err := f.reader.List(t.Context(), query.CheckpointFilter{})
	must(t, err)
	if len(l.Points) != 1 || l.Points[0].ID != string(id) {
		t.Errorf("points %+v", l.Points)
	}
	if diff := cmp.Diff([]checkpoint.ID{broken}, l.Missing); diff != "" {
		t.Error(diff)
	}
}

func TestOpenReadsPointsOnDemand(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put(t, checkpoint.SessionMeta{SessionID: "s1"})
	const other = "ffffffffffff"
	f.Sh(`git switch -q entire/checkpoints/v1 && mkdir -p ff/ffffffffff && echo '{"x":1}' > ff/ffffffffff/metadata.json &&
		git add ff && git commit -qm x && git switch -q main`)
	f.Git("commit", "-q", "--allow-empty", "-m", "Newer\n\n"+checkpoint.TrailerKey+": "+other)
	f.Git("commit", "-q", "--allow-empty", "-m", "Newest\n\n"+checkpoint.TrailerKey+": "+string(id))
	l, points, err := f.reader.Open(t.Context(), query.CheckpointFilter{})
	must(t, err)
	var got []string
	for p, err := range points {
		must(t, err)
		got = append(got, p.ID)
		f.Sh(`rm -f .git/objects/$(git rev-parse entire/checkpoints/v1:ff/ffffffffff/metadata.json | sed 's|^..|&/|')`)
	}
	if diff := cmp.Diff([]string{string(id)}, got); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]checkpoint.ID{other}, l.Missing); diff != "" {
		t.Errorf("lost after the first point was read (-want +got):\n%s", diff)
	}
}

func TestMissingAndAmbiguousPrefixes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.put(t, checkpoint.SessionMeta{SessionID: "s1"})
	f.Sh(`git switch -q entire/checkpoints/v1 && cp -r a1/b2c3d4e5f6 a1/b2ffffffff && git add a1 && git commit -qm x && git switch -q main`)
	if _, err := f.reader.Checkpoint(t.Context(), "A1B2C", query.ExplainOptions{}); err != nil {
		t.Error(err)
	}
	_, err := f.reader.Checkpoint(t.Context(), "a1b2", query.ExplainOptions{})
	if several, ok := errors.AsType[*query.AmbiguousError](err); !ok || len(several.Found) != 2 {
		t.Errorf("got %v", err)
	}
	for _, prefix := range []string{"0", "zz", "-", "../..", strings.Repeat("a", 99)} {
		_, err := f.reader.Checkpoint(t.Context(), prefix, query.ExplainOptions{})
		if _, ok := errors.AsType[*query.NotFoundError](err); !ok {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}
