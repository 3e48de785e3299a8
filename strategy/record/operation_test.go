package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
)

func TestAmends(t *testing.T) {
	t.Parallel()
	message, reuse := CommitMessage{Source: "message"}, CommitMessage{Source: "commit", Commit: "HEAD"}
	for name, tc := range map[string]struct {
		message CommitMessage
		verb    string
		args    []string
		want    bool
	}{
		"with a message":            {message, "commit", []string{"--amend", "-m", "x"}, true},
		"cut short":                 {message, "commit", []string{"--ame"}, true},
		"too short":                 {message, "commit", []string{"--a"}, false},
		"longer than the option":    {message, "commit", []string{"--amended"}, false},
		"a message about it":        {message, "commit", []string{"-m", "--amend?"}, false},
		"no amend":                  {message, "commit", []string{"-m", "x"}, false},
		"HEAD, caller not seen":     {reuse, "", nil, true},
		"HEAD by -C":                {reuse, "commit", []string{"-C", "HEAD"}, false},
		"another commit by -c":      {CommitMessage{Source: "commit", Commit: "abc"}, "", nil, false},
		"without edit":              {reuse, "commit", []string{"--amend", "--no-edit"}, true},
		"editor, nothing to go by":  {CommitMessage{}, "", nil, false},
		"amend with another source": {CommitMessage{Source: "template"}, "commit", []string{"--amend"}, true},
	} {
		if got := amends(tc.message, tc.verb, tc.args); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSkipGlobalOptions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ args, want []string }{
		{[]string{"commit", "-m", "x"}, []string{"commit", "-m", "x"}},
		{[]string{"-c", "user.name=x", "-C", "/repo", "commit"}, []string{"commit"}},
		{[]string{"--no-pager", "--git-dir=/r", "--work-tree", "/w", "commit", "--amend"}, []string{"commit", "--amend"}},
		{[]string{"-c"}, []string{}},
		{nil, nil},
	} {
		if diff := cmp.Diff(tc.want, skipGlobalOptions(tc.args)); diff != "" {
			t.Errorf("%q: %s", tc.args, diff)
		}
	}
}

func TestIsRevert(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Revert \"x\"\n\nThis reverts commit 0123456789abcdef.\n":  true,
		"Reapply \"x\"\n\nThis reverts commit 0123456789abcdef.\n": true,
		"Revert \"x\"\n": false,
		"Undo\n\nThis reverts commit 0123456789abcdef.\n": false,
	} {
		if got := isRevert(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestLastDone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"pick abc one\nreword def two\n":     "def",
		"pick abc one\nmerge -C def topic\n": "def",
		"pick abc one\nsquash def two\n":     "",
		"edit abc one\nexec make\n":          "",
		"":                                   "",
	} {
		if got := lastDone(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestIDsAreUniqueAndOrdered(t *testing.T) {
	t.Parallel()
	got := unique([]checkpoint.ID{"b", "a", "b", "c", "a"})
	if diff := cmp.Diff([]checkpoint.ID{"b", "a", "c"}, got); diff != "" {
		t.Error(diff)
	}
}
