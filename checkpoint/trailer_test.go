package checkpoint_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	const a, b = "abcdef123456", "0123456789ab"
	scissors := "# ------------------------ >8 ------------------------\n"
	for name, tc := range map[string]struct {
		message string
		want    []checkpoint.ID
	}{
		"none":                    {"subject\n", nil},
		"in the trailer block":    {"subject\n\nEntire-Checkpoint: " + a + "\n", []checkpoint.ID{a}},
		"without a final newline": {"subject\n\nEntire-Checkpoint: " + a, []checkpoint.ID{a}},
		"behind the subject, as the existing tool writes it": {"feat: x\nEntire-Checkpoint: " + a + "\n", []checkpoint.ID{a}},
		"behind a line with a colon, likewise":               {"x\n\nsee: that\nEntire-Checkpoint: " + a + "\n", []checkpoint.ID{a}},
		"in a block that goes on":                            {"x\n\nEntire-Checkpoint: " + a + "\nReviewed-by: A\n and B\n", []checkpoint.ID{a}},
		"in a mixed block, as git takes it":                  {"x\n\nEntire-Checkpoint: " + a + "\n[A: changed]\nSigned-off-by: A\n", []checkpoint.ID{a}},
		"above git's comments":                               {"x\n\nEntire-Checkpoint: " + a + "\n\n# Please enter\n", []checkpoint.ID{a}},
		"in the body":                                        {"subject\n\nEntire-Checkpoint: " + a + "\n\nmore\n", nil},
		"in the text of a paragraph":                         {"subject\n\nas in\nEntire-Checkpoint: " + a + "\nmore\n", nil},
		"indented":                                           {"x\n\n    Entire-Checkpoint: " + a + "\n", nil},
		"indented by a tab":                                  {"x\n\n\tEntire-Checkpoint: " + a + "\n", nil},
		"quoted":                                             {"x\n\n> Entire-Checkpoint: " + a + "\n", nil},
		"fenced":                                             {"x\n\n```\nEntire-Checkpoint: " + a + "\n```\n", nil},
		"fenced, as a paragraph":                             {"x\n\n```text\n\nEntire-Checkpoint: " + a + "\n\n```\n", nil},
		"behind a fence":                                     {"x\n\n```\ncode\n```\n\nEntire-Checkpoint: " + a + "\n", []checkpoint.ID{a}},
		"in a list of git merge --squash": {
			"Squashed commit of the following:\n\ncommit " + strings.Repeat("0", 40) + "\nAuthor: A <a@b>\nDate:   now\n\n    x\n    \n    Entire-Checkpoint: " + a +
				"\n\ncommit " + strings.Repeat("1", 40) + "\nAuthor: A <a@b>\nDate:   now\n\n    y\n    \n        Entire-Checkpoint: 000000000000\n    \n    Entire-Checkpoint: " + b + "\n",
			[]checkpoint.ID{a, b},
		},
		"in a squash of GitHub":                 {"x (#1)\n\n* y\n\nmore\n\nEntire-Checkpoint: " + a + "\n\n* z\n\nbody\nEntire-Checkpoint: " + b + "\n\n* end\n", []checkpoint.ID{a, b}},
		"in a squash of GitLab":                 {"x\n\n* y\n\n  Entire-Checkpoint: " + a + "\n\n* z\n\n  Entire-Checkpoint: " + b + "\n", []checkpoint.ID{a, b}},
		"in joined messages":                    {"x\n\nEntire-Checkpoint: " + a + "\n\ny\n\nEntire-Checkpoint: " + b + "\n", []checkpoint.ID{a, b}},
		"two in order":                          {"Entire-Checkpoint: " + b + "\nEntire-Checkpoint: " + a + "\n", []checkpoint.ID{b, a}},
		"each once":                             {"Entire-Checkpoint: " + b + "\nEntire-Checkpoint: " + b + "\n", []checkpoint.ID{b}},
		"no space after the colon":              {"Entire-Checkpoint:" + a + "\n", []checkpoint.ID{a}},
		"text behind the id":                    {"Entire-Checkpoint: " + a + " x\n", []checkpoint.ID{a}},
		"CRLF":                                  {"x\r\n\r\nEntire-Checkpoint: " + a + "\r\n", []checkpoint.ID{a}},
		"commented lines don't count":           {"# Entire-Checkpoint: " + a + "\n; Entire-Checkpoint: " + b + "\n", nil},
		"quoted in a sentence":                  {"see Entire-Checkpoint: " + a + "\n", nil},
		"too long":                              {"Entire-Checkpoint: " + a + "7\n", nil},
		"too short":                             {"Entire-Checkpoint: " + a[:11] + "\n", nil},
		"upper case":                            {"Entire-Checkpoint: ABCDEF123456\n", nil},
		"never across lines":                    {"Entire-Checkpoint:\n" + a + "\n", nil},
		"empty":                                 {"Entire-Checkpoint:", nil},
		"punctuation behind it":                 {"Entire-Checkpoint: " + a + ".\n", nil},
		"a multi-byte character behind it":      {"Entire-Checkpoint: " + a + "é\n", nil},
		"another key":                           {"X-Entire-Checkpoint: " + a + "\n", nil},
		"not in the diff of a verbose commit":   {"s\n" + scissors + " Entire-Checkpoint: " + a + "\n", nil},
		"scissors of another comment character": {"s\n; " + scissors[2:] + "Entire-Checkpoint: " + a + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checkpoint.IDs(tc.message)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestQuoteIDs(t *testing.T) {
	t.Parallel()
	const a, b = "abcdef123456", "0123456789ab"
	message := "s\n\nEntire-Checkpoint: " + a + "\n\nbody\n\nEntire-Checkpoint: " + b + "\n"
	want := "s\n\n> Entire-Checkpoint: " + a + "\n\nbody\n\nEntire-Checkpoint: " + b + "\n"
	if diff := cmp.Diff(want, checkpoint.QuoteIDs(message, b)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(message, checkpoint.QuoteIDs(message, a, b)); diff != "" {
		t.Error(diff)
	}
}

func TestStripIDs(t *testing.T) {
	t.Parallel()
	const line = "Entire-Checkpoint: abcdef123456\n"
	for name, tc := range map[string]struct{ message, want string }{
		"nothing to strip":              {"subject\n\n\n\nbody\n\n", "subject\n\n\n\nbody\n\n"},
		"at the end":                    {"subject\n\n" + line, "subject\n"},
		"at the end without a newline":  {"subject\n\nEntire-Checkpoint: abcdef123456", "subject\n"},
		"in a block of others":          {"s\n\n" + line + "Signed-off-by: A\n", "s\n\nSigned-off-by: A\n"},
		"another in the body stays":     {"s\n\nEntire-Checkpoint: 0123456789ab\n\nbody\n", "s\n\nEntire-Checkpoint: 0123456789ab\n\nbody\n"},
		"between paragraphs":            {"s\n\n" + line + "\nbody\n", "s\n\nbody\n"},
		"between more blank lines":      {"s\n\n" + line + "\n\nbody\n", "s\n\nbody\n"},
		"two with a blank line between": {"s\n\n" + line + "\n" + line + "\nbody\n", "s\n\nbody\n"},
		"behind the subject":            {"s\n" + line + "\nbody\n", "s\n\nbody\n"},
		"nothing else":                  {line, ""},
		"before git's template":         {"\n" + line + "\n# Please enter\n", "\n# Please enter\n"},
		"indented ones stay":            {"s\n\n    " + line + "\n" + line, "s\n\n    " + line},
		"comments stay":                 {"s\n\n" + line + "# " + line, "s\n\n# " + line},
		"malformed ones stay":           {"s\n\nEntire-Checkpoint: nothing\n", "s\n\nEntire-Checkpoint: nothing\n"},
		"other blank lines stay":        {"s\n\n\nbody\n\n\nmore\n\n" + line, "s\n\n\nbody\n\n\nmore\n"},
		"below the scissors it all stays": {
			"s\n\n" + line + "# ------------------------ >8 ------------------------\n" + line + "\n\n",
			"s\n\n# ------------------------ >8 ------------------------\n" + line + "\n\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checkpoint.StripIDs(tc.message, "abcdef123456")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzIDs(f *testing.F) {
	f.Add("subject\n\nEntire-Checkpoint: abcdef123456\n")
	f.Add("Entire-Checkpoint:\x0babcdef123456\r\n\n\n\tEntire-Checkpoint: 000000000000")
	f.Fuzz(func(t *testing.T, message string) {
		ids := checkpoint.IDs(message)
		for i, id := range ids {
			if _, err := checkpoint.ParseID(string(id)); err != nil || slices.Contains(ids[:i], id) {
				t.Errorf("%q in %v", id, ids)
			}
		}
		if stripped := checkpoint.StripIDs(message); len(stripped) > len(message) {
			t.Errorf("%q is longer", stripped)
		}
		if left := checkpoint.IDs(checkpoint.QuoteIDs(message)); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
}

func TestID(t *testing.T) {
	t.Parallel()
	id, err := checkpoint.NewHexID(bytes.NewReader([]byte{0xab, 0xcd, 0xef, 0x12, 0x34, 0x56, 0x78}))
	must(t, err)
	if id != "abcdef123456" || id.Dir() != "ab/cdef123456" {
		t.Errorf("%s %s", id, id.Dir())
	}
	if _, err := checkpoint.NewHexID(strings.NewReader("short")); err == nil {
		t.Error("an id of too few bytes")
	}
	for _, bad := range []string{"", "abcdef12345", "abcdef1234567", "ABCDEF123456", "../../../../x", "abcdef12345\n"} {
		if _, err := checkpoint.ParseID(bad); !errors.Is(err, checkpoint.ErrInvalid) {
			t.Errorf("%q is an id", bad)
		}
	}
}

func TestShadowBranch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ base, worktree, want string }{
		{"0123456789abcdef0123456789abcdef01234567", "", "refs/heads/entire/0123456-e3b0c4"},
		{"0123456789abcdef0123456789abcdef01234567", "wt", "refs/heads/entire/0123456-a721db"},
		{"", "", "refs/heads/entire/0000000-e3b0c4"},
	} {
		name := checkpoint.ShadowBranch(oid(tc.base), tc.worktree)
		if name != tc.want || !checkpoint.IsShadow(name) {
			t.Errorf("%s, want %s", name, tc.want)
		}
	}
	for ref, want := range map[string]bool{
		"refs/heads/entire/0123456-e3b0c4":          true,
		"entire/0123456-e3b0c4":                     true,
		"entire/0123456":                            true,
		"entire/0123456789abcdef0123-E3B0C4":        true,
		"entire/ABCDEF0":                            true,
		"entire/012345":                             false,
		"entire/0123456-":                           false,
		"entire/0123456-e3b0c":                      false,
		"entire/0123456-e3b0c44":                    false,
		"entire/0123456-e3b0c4-1":                   false,
		"entire/checkpoints/v1":                     false,
		checkpoint.MetadataBranch:                   false,
		"refs/remotes/origin/entire/0123456-e3b0c4": false,
		"refs/heads/main":                           false,
		"refs/heads/my/entire/0123456-e3b0c4":       false,
	} {
		if checkpoint.IsShadow(ref) != want {
			t.Errorf("IsShadow(%q) is %v", ref, !want)
		}
	}
}

func TestSubject(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"":                                   "Claude Code session updates",
		"?":                                  "Claude Code session updates",
		"fix the bug":                        "Fix the bug",
		"Can you please fix it?":             "Fix it",
		"could you I want you to Let's go":   "Go",
		"I'd like you to add é":              "Add é",
		"écris ça":                           "Écris ça",
		"Please\nfix\n\nEntire-Session: x":   "Fix Entire-Session: x",
		"please":                             "Please",
		"why??":                              "Why?",
		"a\x00b\x1b[31mc":                    "A b [31mc",
		strings.Repeat("é", 80):              "É" + strings.Repeat("é", 71),
		strings.Repeat("x", 71) + " " + "yz": "X" + strings.Repeat("x", 70),
		"\xff":                               "\uFFFD",
	} {
		if got := checkpoint.Subject(prompt); got != want {
			t.Errorf("Subject(%q) is %q, want %q", prompt, got, want)
		}
	}
}

func TestFirstPrompt(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"":                       "",
		"a \n\n b\tc":            "a b c",
		strings.Repeat("é", 100): strings.Repeat("é", 100),
		strings.Repeat("é", 101): strings.Repeat("é", 100) + "...",
	} {
		if got := checkpoint.FirstPrompt(prompt); got != want {
			t.Errorf("FirstPrompt(%q) is %q, want %q", prompt, got, want)
		}
	}
}

func TestRelTranscript(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ home, path, want string }{
		{"/home/u", "/home/u/.claude/projects/x/s.jsonl", ".claude/projects/x/s.jsonl"},
		{"/home/u/", "/home/u/s.jsonl", "s.jsonl"},
		{"/home/u", "/home/user/s.jsonl", ""},
		{"/home/u", "/home/u/../v/s.jsonl", ""},
		{"/home/u", "/home/u", ""},
		{"", "/s.jsonl", ""},
		{"/home/u", "s.jsonl", ""},
	} {
		if got := checkpoint.RelTranscript(tc.home, tc.path); got != tc.want {
			t.Errorf("RelTranscript(%q, %q) is %q", tc.home, tc.path, got)
		}
	}
}
