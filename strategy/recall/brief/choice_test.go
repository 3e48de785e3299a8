package brief_test

import (
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

// TestWriteChoosesFiles checks that a brief names the files that the next session probably uses,
// and counts the others.
func TestWriteChoosesFiles(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.State.Files, m.Checkpoint.State.Context.FilesRead = map[string]recall.File{}, nil
	uses := []recall.FileUse{
		{Path: "src/recent.go", Edits: 1, RequestsSince: 3},
		{Path: "src/often.go", Edits: 2, RequestsSince: 20},
		{Path: "src/lately.go", Edits: 1, RequestsSince: 20, Lately: true},
		{Path: "src/done.go", Edits: 1, RequestsSince: 2, Lately: true},
		{Path: "src/done_last.go", Edits: 1, RequestsSince: 1},
		{Path: "src/reported.go", Edits: 1, RequestsSince: 20},
		{Path: "src/once.go", Edits: 1, RequestsSince: 20},
		{Path: "lib/ledger.go", Reads: 1, RequestsSince: 1},
		{Path: "lib/long_ago.go", Reads: 2, RequestsSince: 20},
	}
	for _, u := range uses {
		if u.Edits > 0 {
			f := recall.File{Path: u.Path, Change: recall.Modified}
			if u.Edits > 1 || strings.HasPrefix(u.Path, "src/done") {
				f.Tracked = recall.Committed
			}
			m.Checkpoint.State.Files[u.Path] = f
		} else {
			m.Checkpoint.State.Context.FilesRead = append(m.Checkpoint.State.Context.FilesRead, u.Path)
		}
	}
	m.Checkpoint.State.Context.FileUses = uses
	m.Checkpoint.State.Analysis.Progress.Reported = "The rest is in reported.go."
	for prompt, want := range map[string]string{
		"":                          "recent often lately done_last reported ledger",
		"Look at once.go once more": "recent often lately done_last reported once ledger",
		"Continue":                  "recent often lately done_last reported ledger",
		"Implement the following plan:\n\nSort the ledger in often.go": "often ledger",
	} {
		m.Prompt = prompt
		text := strings.Join(brief.Write(m).Parts, "\n")
		for _, u := range uses {
			name := u.Path[4 : len(u.Path)-len(".go")]
			if got := strings.Contains(text, u.Path[:4]+name+".go"); got != strings.Contains(" "+want+" ", " "+name+" ") {
				t.Errorf("%q: %s is named: %v", prompt, name, got)
			}
		}
		if !strings.Contains(want, "once") && !strings.Contains(text, "more files") {
			t.Errorf("%q: the others are not counted:\n%s", prompt, text)
		}
	}
	m.Prompt, m.Branch = "Continue", "elsewhere"
	if text := strings.Join(brief.Write(m).Parts, "\n"); strings.Contains(text, "ledger.go") || !strings.Contains(text, "often.go") {
		t.Errorf("on another branch:\n%s", text)
	}
	m.Prompt, m.Branch, m.Kind = "", m.Checkpoint.State.Context.GitBranch, brief.Opening
	if text := brief.Write(m).Parts[0]; strings.Contains(text, "once.go") || !strings.Contains(text, "often.go") || strings.Contains(text, "ledger.go") {
		t.Errorf("opening:\n%s", text)
	}
}
