package checkpoint_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// dump returns a commit with its tree and all files, with their ends marked.
func (f *fixture) dump(rev string) string {
	var b strings.Builder
	b.WriteString("$ git cat-file commit\n" + f.raw("cat-file", "commit", rev) + "|\n$ git ls-tree -r\n" + f.raw("ls-tree", "-r", rev))
	for path := range strings.Lines(f.raw("ls-tree", "-r", "--name-only", rev)) {
		path = strings.TrimSuffix(path, "\n")
		b.WriteString("$ git show " + path + "\n" + f.raw("cat-file", "blob", rev+":"+path) + "|\n")
	}
	return b.String()
}

// raw returns the output of git, byte for byte.
func (f *fixture) raw(args ...string) string { return f.TryGit(args...).Stdout }

func TestCommittedBytes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	transcript := f.transcript(t, "s1", "{\"text\":\"one\"}\n{\"text\":\"s3cret\"}\n")
	second := meta("s2")
	second.Agent, second.TokenUsage, second.FilesTouched, second.TranscriptPath = "", nil, nil, ""
	tip := f.update(t,
		put(f, idA, checkpoint.Slot{Meta: meta("s1"), Transcript: transcript, Prompts: []string{"Make it <work>", strings.Repeat("é", 251)}}),
		put(f, idA, checkpoint.Slot{Meta: second}),
	)
	var b strings.Builder
	for _, rev := range []string{"~2", "~1", ""} {
		b.WriteString("## " + rev + "\n" + f.dump(string(tip)+rev))
	}
	testkit.Golden(t, filepath.Join("testdata", "committed.golden"), b.String())
	f.fsck(t)
	if want := "Finalize transcript for Checkpoint: abcdef123456\n"; checkpoint.FinalizeMessage(idA) != want {
		t.Errorf("%q", checkpoint.FinalizeMessage(idA))
	}
}

func TestShadowBytes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	head, err := f.git.Commit(t.Context(), "HEAD")
	must(t, err)
	blob, err := f.git.WriteBlob([]byte("made\n"))
	must(t, err)
	edits := []git.TreeEdit{{Path: "sub/made.sh", Mode: git.ModeExec, OID: blob}, {Path: "README.md"}}
	sh := checkpoint.Shadow{
		Session:    "0d7f2c6e-1111-4222-8333-444455556666",
		Subject:    checkpoint.Subject("please\nmake it"),
		Prompts:    []string{"please\nmake it", "and more"},
		Summary:    "Made it.",
		Transcript: f.transcript(t, "s1", "{}\n"),
	}
	first, ok, err := checkpoint.WriteShadow(t.Context(), f.git, checkpoint.Tip{Tree: head.Tree}, edits, sh, author())
	must(t, err)
	if !ok {
		t.Fatal("no commit")
	}
	sh.Prompts, sh.Summary, sh.Transcript = nil, "", checkpoint.StoredTranscript{}
	sh.Subject = checkpoint.Subject("")
	second, _, err := checkpoint.WriteShadow(t.Context(), f.git, f.tip(t, first), nil, sh, author())
	must(t, err)
	carried, err := checkpoint.WriteCarryForward(t.Context(), f.git, checkpoint.Tip{Tree: head.Tree}, edits, checkpoint.Carry{Session: sh.Session, When: author().When})
	must(t, err)
	for name, commit := range map[string]git.OID{"shadow-first": first, "shadow-second": second, "carry-forward": carried} {
		testkit.Golden(t, filepath.Join("testdata", name+".golden"), f.dump(string(commit)))
		must(t, git.UpdateRefs(t.Context(), f.git, "test", []git.RefChange{{Name: "refs/heads/" + name, New: commit}}))
	}
	f.fsck(t)
}

// tip returns a commit to build on.
func (f *fixture) tip(tb testing.TB, commit git.OID) checkpoint.Tip {
	tb.Helper()
	c, err := f.git.Commit(tb.Context(), string(commit))
	must(tb, err)
	return checkpoint.Tip{Commit: c.OID, Tree: c.Tree}
}
