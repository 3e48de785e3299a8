package strategy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy"
)

func TestAmends(t *testing.T) {
	t.Parallel()
	message, reuse := strategy.Message{Source: "message"}, strategy.Message{Source: "commit", Commit: "HEAD"}
	for name, tc := range map[string]struct {
		message strategy.Message
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
		"another commit by -c":      {strategy.Message{Source: "commit", Commit: "abc"}, "", nil, false},
		"without edit":              {reuse, "commit", []string{"--amend", "--no-edit"}, true},
		"editor, nothing to go by":  {strategy.Message{}, "", nil, false},
		"amend with another source": {strategy.Message{Source: "template"}, "commit", []string{"--amend"}, true},
	} {
		if got := strategy.Amends(tc.message, tc.verb, tc.args); got != tc.want {
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
		if diff := cmp.Diff(tc.want, strategy.SkipGlobalOptions(tc.args)); diff != "" {
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
		if got := strategy.IsRevert(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestLastDone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"pick abc one\nreword def two\n": {"reword", "def"},
		"pick abc one\nsquash def two\n": {},
		"edit abc one\nexec make\n":      {},
		"":                               {},
	} {
		verb, rev := strategy.LastDone(text)
		if got := [2]string{verb, rev}; got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestSplitMessage(t *testing.T) {
	t.Parallel()
	const cut = "# ------------------------ >8 ------------------------\n"
	for name, tc := range map[string]struct{ text, mark, prose, rest string }{
		"no comments":                 {"a\n\nb\n", "#", "a\n\nb\n", ""},
		"comments at the end":         {"a\n\n# x\n#\n", "#", "a\n\n", "# x\n#\n"},
		"nothing but comments":        {"\n# x\n", "#", "\n", "# x\n"},
		"a comment within stays":      {"# 1st\na\n# x\n", "#", "# 1st\na\n", "# x\n"},
		"another mark":                {"a\n#1 is text\n; x\n", ";", "a\n#1 is text\n", "; x\n"},
		"a longer mark":               {"a\n// x\n", "//", "a\n", "// x\n"},
		"what a verbose commit shows": {"a\n# x\n" + cut + "diff --git\n+b\n", "#", "a\n", "# x\n" + cut + "diff --git\n+b\n"},
		"cut off at once":             {"a\n" + cut + "# x\ndiff\n", "#", "a\n", cut + "# x\ndiff\n"},
		"empty":                       {"", "#", "", ""},
	} {
		prose, rest := strategy.Split(tc.text, tc.mark)
		if diff := cmp.Diff([]string{tc.prose, tc.rest}, []string{prose, rest}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatChangedDuringATurn(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	bash := transcript.Call{Tool: "Bash", Start: at(1000), End: at(2000)}
	open := transcript.Call{Tool: "Bash", Start: at(5000), Open: true}
	untimed := transcript.Call{Tool: "Bash"}
	timed := session.Turn{Start: start, Timed: true, Calls: []transcript.Call{bash, open}}
	for name, tc := range map[string]struct {
		turn session.Turn
		ms   int
		want bool
	}{
		"before the turn":                      {timed, -1, false},
		"in the turn, no tool running":         {timed, 3000, false},
		"while a tool ran":                     {timed, 1500, true},
		"just before it, clocks differ":        {timed, 960, true},
		"just after it":                        {timed, 2040, true},
		"well after it":                        {timed, 2060, false},
		"a call without a result is open":      {timed, 600_000, true},
		"at the very beginning, without times": {session.Turn{Start: start}, 0, true},
		"no usable times":                      {session.Turn{Start: start, Calls: []transcript.Call{bash}}, 3000, true},
		"a call without a time":                {session.Turn{Start: start, Timed: true, Calls: []transcript.Call{untimed}}, 3000, true},
		"no tool that writes":                  {session.Turn{Start: start, Timed: true}, 3000, false},
		"no turn":                              {session.Turn{}, 3000, false},
	} {
		if got := strategy.At(strategy.During(tc.turn), at(tc.ms)); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestKnownFilesSurviveTheirFile(t *testing.T) {
	t.Parallel()
	entries := []git.StatusEntry{
		{Index: '?', Worktree: '?', Path: "new\nname"},
		{Index: ' ', Worktree: 'D', Path: "gone"},
		{Index: ' ', Worktree: 'M', Path: "changed"},
		{Index: 'D', Worktree: ' ', Path: "removed"},
	}
	want := map[string]bool{"?new\nname": true, "Dgone": true, "Dremoved": true}
	if diff := cmp.Diff(want, strategy.DecodeKnown(strategy.EncodeKnown(strategy.KnownAfter(nil, nil, entries)))); diff != "" {
		t.Error(diff)
	}
	later := strategy.KnownAfter(want, []string{"gone", "new\nname"}, []git.StatusEntry{{Index: '?', Worktree: '?', Path: "gone"}})
	if diff := cmp.Diff(map[string]bool{"?gone": true, "Dremoved": true}, later); diff != "" {
		t.Error(diff)
	}
	if got := strategy.DecodeKnown(nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestIdsStandOnceInOrder(t *testing.T) {
	t.Parallel()
	got := strategy.Unique([]checkpoint.ID{"b", "a", "b", "c", "a"})
	if diff := cmp.Diff([]checkpoint.ID{"b", "a", "c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestContentThatIsCommittedAgain(t *testing.T) {
	t.Parallel()
	blobs := map[string]git.OID{"a": "1", "b": "2"}
	for name, tc := range map[string]struct {
		changes map[string]git.Change
		want    bool
	}{
		"the same blob":    {map[string]git.Change{"b": {New: "2"}}, true},
		"another blob":     {map[string]git.Change{"b": {New: "3"}}, false},
		"at another place": {map[string]git.Change{"c": {New: "1"}}, false},
		"nothing":          {nil, false},
	} {
		if got := strategy.Shares(blobs, tc.changes); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
