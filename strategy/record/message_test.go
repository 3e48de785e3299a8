package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		got := splitMessage("", tc.text, tc.mark)
		if diff := cmp.Diff([]string{tc.prose, tc.rest}, []string{got.prose, got.rest}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
