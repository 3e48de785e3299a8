package checkpoint_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// forget rewrites a history without the forgotten sessions and checkpoints.
func (f *mergeFixture) forget(tip git.OID, what checkpoint.Forgotten) git.OID {
	f.tb.Helper()
	next, err := (&checkpoint.Rewriting{Repo: f.git, Forgotten: what}).Forget(f.tb.Context(), tip, author())
	must(f.tb, err)
	return next
}

// holds reports whether a blob reachable from the commit contains the text.
func (f *mergeFixture) holds(tip git.OID, text string) bool {
	f.tb.Helper()
	for line := range strings.Lines(f.Git("rev-list", "--objects", string(tip))) {
		object, err := f.git.Read(f.tb.Context(), strings.Fields(line)[0])
		must(f.tb, err)
		if object.Type == "blob" && bytes.Contains(object.Data, []byte(text)) {
			return true
		}
	}
	return false
}

func TestForgetRemovesSessionFromHistory(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	first := f.commit("", f.put(idThree, "kept", 1))
	second := f.commit(first, f.put(idOne, "gone", 2), f.put(idOne, "kept", 3))
	third := f.commit(second, f.put(idTwo, "gone", 4))
	next := f.forget(third, checkpoint.Forgotten{Sessions: []string{"gone"}})
	if f.holds(next, `{"session":"gone"}`) {
		t.Error("the transcript is in the history")
	}
	if !f.holds(next, `{"session":"kept"}`) {
		t.Error("the other session is gone too")
	}
	for _, part := range []string{"~3", "~2", "~1"} { // authors, dates and messages stay
		format := []string{"log", "-1", "--format=%an %ae %at %cn %ct %s"}
		was := map[string]git.OID{"~3": first, "~2": second, "~1": third}[part]
		want := f.Git(append(format, string(was))...)
		if got := f.Git(append(format, string(next)+part)...); got != want {
			t.Errorf("commit %s is %q, want %q", part, got, want)
		}
	}
	if f.Git("rev-parse", string(next)+"~3") != string(first) {
		t.Error("a commit without the session was rewritten")
	}
	tip, err := f.git.Commit(t.Context(), string(next))
	must(t, err)
	empty, err := f.readIn(t, tip.Tree, idTwo)
	must(t, err)
	if !empty.Summary.Forgotten || len(empty.Sessions) != 0 {
		t.Errorf("the checkpoint that lost its last session is %+v", empty.Summary)
	}
	shared, err := f.readIn(t, tip.Tree, idOne)
	must(t, err)
	if shared.Summary.Forgotten || len(shared.Sessions) != 1 || len(shared.Summary.Sessions) != 1 || shared.Summary.CheckpointsCount != 1 {
		t.Errorf("the checkpoint of two sessions is %+v", shared)
	}
	for _, i := range f.inspect(t, tip.Tree, nil) {
		if !i.OK() {
			t.Errorf("%s: %s %v", i.ID, i.Summary, i.Lost)
		}
	}
	if again := f.forget(next, checkpoint.Forgotten{Sessions: []string{"gone"}}); again != next {
		t.Error("forgetting it again made another history")
	}
	f.fsck(t)
}

func TestForgottenContentIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	tip := f.commit("", f.put(idOne, "gone", 2), f.put(idTwo, "other", 1))
	next := f.forget(tip, checkpoint.Forgotten{Sessions: []string{"gone"}, Checkpoints: []checkpoint.ID{idTwo}})
	must(t, git.UpdateRefs(t.Context(), f.git, "test", []git.RefChange{{Name: checkpoint.MetadataBranch, New: next}}))
	const inRef = checkpoint.ID("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	for name, again := range map[string]checkpoint.Change{
		"session": put(f.fixture, idThree, checkpoint.Slot{Meta: meta("gone")}), "checkpoint": put(f.fixture, idTwo, checkpoint.Slot{Meta: meta("new")}),
		"session in a ref": put(f.fixture, inRef, checkpoint.Slot{Meta: meta("gone")}),
	} {
		if tip := f.update(t, again); tip != next {
			t.Errorf("a forgotten %s was written again", name)
		}
	}
	if f.TryGit("rev-parse", "-q", "--verify", inRef.Ref()).Code == 0 {
		t.Error("a checkpoint of a forgotten session has a ref")
	}
	if tip := f.update(t, put(f.fixture, idOne, checkpoint.Slot{Meta: meta("new")})); tip == next {
		t.Error("another session of a checkpoint that isn't forgotten was not written")
	}
}

// TestAttackMergeBringsNothingForgottenBack merges histories of clones that still have data
// forgotten here, or that have forgotten data that still exists here.
func TestAttackMergeBringsNothingForgottenBack(t *testing.T) {
	t.Parallel()
	what := checkpoint.Forgotten{Sessions: []string{"gone"}}
	for name, c := range map[string]struct{ here, there bool }{
		"forgotten here": {here: true}, "forgotten there": {there: true}, "forgotten in both": {here: true, there: true},
	} {
		f := newMergeFixture(t)
		base := f.commit("", f.put(idOne, "gone", 2), f.put(idOne, "kept", 1))
		ours, theirs := f.commit(base, f.put(idTwo, "ours", 1)), f.commit(base, f.put(idThree, "gone", 5), f.put(idThree, "theirs", 1))
		if c.here {
			ours = f.forget(ours, what)
		}
		if c.there {
			theirs = f.forget(theirs, what)
		}
		merged := f.merge(ours, theirs)
		if f.holds(merged.OID, `{"session":"gone"}`) {
			t.Errorf("%s: it is in the merged history", name)
		}
		for _, session := range []string{"kept", "ours", "theirs"} {
			if !f.holds(merged.OID, `{"session":"`+session+`"}`) {
				t.Errorf("%s: %s was lost", name, session)
			}
		}
		listed, err := checkpoint.ForgottenIn(t.Context(), f.git, merged.Tree)
		must(t, err)
		if diff := cmp.Diff([]string{"gone"}, listed.Sessions); diff != "" {
			t.Errorf("%s: listed (-want +got):\n%s", name, diff)
		}
		if again := f.merge(merged.OID, theirs); again.OID != merged.OID {
			t.Errorf("%s: merging the same again made another commit", name)
		}
	}
}

func TestForgetMasksTextAndKeepsHash(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	tip := f.commit("", f.put(idOne, "s", 1), f.file("aa/0000000001/0/full.jsonl", `{"text":"a s3cret"}`, git.ModeFile),
		f.file("aa/0000000001/0/content_hash.txt", "sha256:"+strings.Repeat("0", 64), git.ModeFile))
	w := &checkpoint.Rewriting{Repo: f.git, Mask: func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("s3cret"), []byte("REDACTED")) }}
	next, err := w.Forget(t.Context(), tip, author())
	must(t, err)
	if f.holds(next, "s3cret") || w.Moved[tip] != next {
		t.Error("the text is in the history")
	}
	want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(`{"text":"a REDACTED"}`)))
	if got := f.Git("show", string(next)+":aa/0000000001/0/content_hash.txt"); got != want {
		t.Errorf("the hash is %s, want %s", got, want)
	}
}

// TestMergeRepeatsOnRewrittenHistory: a history that the other side has rewritten, and masked more in
// than its list names, is not merged with the old one: what only this side has follows it.
func TestMergeRepeatsOnRewrittenHistory(t *testing.T) {
	t.Parallel()
	f := newMergeFixture(t)
	old := f.commit("", f.put(idThree, "secret", 2), f.put(idOne, "gone", 1))
	ours := f.commit(f.commit(old, f.put(idTwo, "new", 3)), f.put(idThree, "secret", 5))
	w := checkpoint.Rewriting{
		Repo: f.git, Forgotten: checkpoint.Forgotten{Sessions: []string{"gone"}},
		Mask: func(data []byte) []byte {
			return bytes.ReplaceAll(data, []byte(`{"session":"secret"}`), []byte(`{"session":"***"}`))
		},
	}
	theirs, err := w.Forget(t.Context(), f.commit(old, f.put(idOne, "other", 4)), author())
	must(t, err)
	ahead := f.commit(old, f.put(idTwo, "new", 3))
	for name, c := range map[string]struct {
		ours git.OID
		want []string // the commits that follow theirs
		kept bool     // a later version of the transcript, of this side
	}{
		"nothing new":            {ours: old},
		"a checkpoint":           {ours: ahead, want: []string{"1 edits of " + string(old)}},
		"and a later transcript": {ours: ours, want: []string{"1 edits of " + string(old), "1 edits of " + string(ahead)}, kept: true},
	} {
		tip := f.merge(c.ours, theirs)
		got := strings.Fields(f.Git("log", "--reverse", "--format=%p", string(theirs)+".."+string(tip.OID)))
		if len(got) != len(c.want) {
			t.Errorf("%s: %d parents of commits, want %d", name, len(got), len(c.want))
		}
		if f.Git("merge-base", string(tip.OID), string(theirs)) != string(theirs) {
			t.Errorf("%s: the result doesn't contain their side", name)
		}
		if diff := cmp.Diff(strings.Join(c.want, "\n"), f.Git("log", "--reverse", "--format=%s", string(theirs)+".."+string(tip.OID))); diff != "" {
			t.Errorf("%s: commits (-want +got):\n%s", name, diff)
		}
		if f.holds(tip.OID, `{"session":"gone"}`) || f.holds(tip.OID, `{"session":"secret"}`) != c.kept {
			t.Errorf("%s: the history has the old version", name)
		}
		if again := f.merge(tip.OID, theirs); again.OID != tip.OID {
			t.Errorf("%s: merged again it is another commit", name)
		}
	}
}
