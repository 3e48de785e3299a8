package transcript_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestTitles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ stored, want []string }{
		"none":                          {},
		"requests":                      {[]string{"Add a page", "Fix it in two"}, []string{"Add a page", "Fix it in two"}},
		"replies":                       {[]string{"yes", "go", "continue", "1", "Add a page"}, []string{"Add a page"}},
		"only replies":                  {[]string{"yes", "1"}, nil},
		"a greeting":                    {[]string{"hi", "Hello there!", "Add a page"}, []string{"Add a page"}},
		"commands":                      {[]string{"/review-pr 12", "Add a page", "/review"}, []string{"Add a page"}},
		"only commands":                 {[]string{"yes", "/review-pr 12", "/review"}, []string{"/review-pr 12", "/review"}},
		"a command with a request":      {[]string{"/plan add a page", "Fix the page"}, []string{"/plan add a page", "Fix the page"}},
		"the text of a command":         {[]string{"# Review\n\nRead the change.", "**Then**\nreport.", "/review"}, []string{"/review"}},
		"the beginning of a skill file": {[]string{"---\nname: review\n", "Add a page"}, []string{"Add a page"}},
		"the output of a failed test":   {[]string{"--- FAIL: TestPump\n    pump_test.go:3: no water", "/review"}, []string{"--- FAIL: TestPump\n    pump_test.go:3: no water"}},
		"the text alone":                {[]string{"# Review\n\nRead the change."}, []string{"# Review\n\nRead the change."}},
		"a plan":                        {[]string{"Implement the following plan:\n\n# Plan: Add a page\n\n## Context\nNone."}, []string{"Add a page"}},
		"a plan on one line":            {[]string{"Implement the following plan: # Add a page ## Context None."}, []string{"Add a page"}},
		"a client's text":               {[]string{"Stop hook feedback:\nnot done", "[Request interrupted by user]", "Add a page"}, []string{"Add a page"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, transcript.PromptTitles(tt.stored)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIsBetter(t *testing.T) {
	t.Parallel()
	// A prompt is better than all before it that are not beside it.
	order := [][]string{{"yes", "hi", "1", "[Request interrupted by user]"}, {"# Review\n\nRead it."}, {"/review", "/review-pr 12"}, {"Add a page", "/plan add a page"}}
	for i, texts := range order {
		for j, others := range order {
			for _, text := range texts {
				for _, other := range others {
					if transcript.IsBetterTitle(text, other) != (i > j) {
						t.Errorf("%q, %q", text, other)
					}
				}
			}
		}
	}
}

func TestPromptItem(t *testing.T) {
	t.Parallel()
	const list = "Which one?\n\n1. keep it\n- **Option B**: drop it\n| Option | About |\n| **C. move it (later)** | with care |\n"
	for label, want := range map[string]string{"1": "keep it", "b": "drop it", "C": "move it (later)", "D": "", "2": ""} {
		if got := transcript.PromptItem(label, list); got != want {
			t.Errorf("%s: %q", label, got)
		}
	}
}
