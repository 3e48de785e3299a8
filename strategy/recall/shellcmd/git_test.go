package shellcmd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

func TestGitCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]shellcmd.Git{
		"go test ./...":                  nil,
		"git status; git log":            nil,
		"git":                            nil,
		"git add -v a.go b.go":           {{Command: "add", Arguments: []string{"a.go", "b.go"}, Dir: "/w"}},
		"git add -A && git commit -m x":  {{Command: "add", Arguments: []string{"-A"}, Dir: "/w"}, {Command: "commit", Subject: "x", Dir: "/w"}},
		"git -C sub -c a=b commit -am x": {{Command: "commit", Subject: "x", All: true, Dir: "/w/sub"}},
		"cd /t/new && git init && git commit -m x && git -C sub push":          {{Command: "commit", Subject: "x", Dir: "/t/new"}, {Command: "push", Dir: "/t/new/sub"}},
		"cd $NEW && git commit -m x":                                           {{Command: "commit", Subject: "x"}},
		"git commit --all --amend":                                             {{Command: "commit", All: true, Amends: true, Dir: "/w"}},
		"git commit --message=x -m body":                                       {{Command: "commit", Subject: "x", Dir: "/w"}},
		"git commit -F file a.go":                                              {{Command: "commit", Arguments: []string{"a.go"}, Dir: "/w"}},
		"git commit -m 'one\n\ntwo'":                                           {{Command: "commit", Subject: "one", Dir: "/w"}},
		"git commit --no-verify -m \"$(cat <<'EOF'\nsubject\n\nbody\nEOF\n)\"": {{Command: "commit", Subject: "subject", Dir: "/w"}},
		"git push origin main | tail -1":                                       {{Command: "push", Masked: true, Dir: "/w"}},
	} {
		if diff := cmp.Diff(want, shellcmd.Split(text).GitCommands("/w")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]shellcmd.Reference{
		"gh pr create --draft --title 'a 12'":                {Done: "created"},
		"git push && gh pr view --json number":               {Done: "read"},
		"gh pr view 104 --json title":                        {Number: "104", Done: "read"},
		"gh pr review 7 --approve":                           {Number: "7", Done: "reviewed"},
		"gh issue close 9":                                   {Number: "9", Issue: true, Done: "closed"},
		"gh api repos/o/r/pulls/132/comments --paginate":     {Number: "132", Repository: "o/r", Done: "read the review of"},
		"gh api repos/o/r/pulls/132/comments/9/replies -f b": {Number: "132", Repository: "o/r", Done: "replied to the review of"},
		"gh api repos/$owner/$repo/issues/3":                 {Number: "3", Issue: true, Done: "read"},
		"gh api repos/o/r/pulls/comments/9":                  {},
		"gh pr list":                                         {},
		"gh repo view":                                       {},
		"echo gh pr create":                                  {},
	} {
		got, ok := shellcmd.Split(text).Reference()
		if got != want || ok != (want.Done != "") {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
}

func TestMatters(t *testing.T) {
	t.Parallel()
	type result struct {
		Key        string
		Checks, OK bool
	}
	for text, want := range map[string]result{
		"cd x && ls":                     {},
		"git commit -m x && gh pr view":  {},
		"rm -r out; mv a b":              {},
		"python3 -c 'print(1)'":          {},
		"cd x && go test ./... | tail":   {"go test ./...", true, true},
		"golangci-lint run":              {"golangci-lint run", true, true},
		"./migrate up && go vet ./... ;": {"./migrate up && go vet ./...", true, true},
		"./migrate up":                   {"./migrate up", false, true},
	} {
		key, checks, ok := shellcmd.Split(text).Matters()
		if diff := cmp.Diff(want, result{key, checks, ok}); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestCountedSuccess(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]bool{
		"":                          false,
		"ok":                        false,
		"1274 pass\n0 fail":         true,
		"Tests: 3 failed, 2 passed": false,
		"3 failed\nagain\n0 failed": true,
		"Passed: 254, Failed: 0":    true,
		"Passed: 254, Failed: 2":    false,
		"Tests run: 5, Failures: 0, Errors: 1, Skipped: 0": false,
		"Tests run: 5, Failures: 0, Errors: 0, Skipped: 0": true,
		"Failures: 0":                   true,
		"error: 0 is no valid port":     false,
		"0 failed\nTests: 1 failed":     false,
		"task 3 failed":                 false,
		"connection failed\n0 failures": true,
	} {
		if got := shellcmd.CountedSuccess(output); got != want {
			t.Errorf("%q: got %v", output, got)
		}
	}
}

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]bool{
		"nothing to commit, working tree clean":    true,
		"no changes added to commit (use git add)": true,
		"Everything up-to-date":                    true,
		"[main abc1234] x":                         false,
	} {
		if got := shellcmd.NothingToDo(output); got != want {
			t.Errorf("%q: got %v", output, got)
		}
	}
}

func TestDescribedChecks(t *testing.T) {
	t.Parallel()
	tests, lints := shellcmd.Split("go test ./...").Checks(), shellcmd.Split("golangci-lint run").Checks()
	for purpose, want := range map[string]shellcmd.Checks{
		"Run all tests":      tests,
		"Run the test suite": tests,
		"Run lint":           lints,
		"Run the server":     0,
		"Read the tests":     0,
	} {
		if got := shellcmd.DescribedChecks(purpose); got != want {
			t.Errorf("%q: got %b, want %b", purpose, got, want)
		}
	}
}
