package shellcmd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

func TestSplitShell(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		words  [][]string
		masked bool
	}{
		"":                          {},
		"go test ./...":             {[][]string{{"go", "test", "./..."}}, false},
		"cd x && go test 2>&1":      {[][]string{{"cd", "x"}, {"go", "test"}}, false},
		"a > out.txt 2>/dev/null b": {[][]string{{"a", "b"}}, false},
		"a 'b c' \"d | e\" f\\ g":   {[][]string{{"a", "b c", "d | e", "f g"}}, false},
		"a | b":                     {[][]string{{"a"}, {"b"}}, true},
		"a |& b":                    {[][]string{{"a"}, {"b"}}, true},
		"a || b":                    {[][]string{{"a"}, {"b"}}, true},
		"a; b":                      {[][]string{{"a"}, {"b"}}, true},
		"a;":                        {[][]string{{"a"}}, false},
		"a\nb\n":                    {[][]string{{"a"}, {"b"}}, true},
		"# what\na":                 {[][]string{{"a"}}, false},
		"a \\\n  b":                 {[][]string{{"a", "b"}}, false},
		"a &":                       {[][]string{{"a"}}, true},
		"(a && b)":                  {[][]string{{"a"}, {"b"}}, false},
		"git commit -m \"$(cat <<'EOF'\nx; y | z\nEOF\n)\"": {[][]string{{"git", "commit", "-m", "$(cat <<'EOF'\nx; y | z\nEOF\n)"}}, false},
		"cat > f <<EOF\nrm -rf x\nEOF":                      {[][]string{{"cat"}}, false},
		"cat <<'E' > f && a\nrm x\nE\nb":                    {[][]string{{"cat"}, {"a"}, {"b"}}, true},
		"cat <<-E <<\"F\"\nx\n\tE\ny\nF\nb | c":             {[][]string{{"cat"}, {"b"}, {"c"}}, true},
		"cat <<< 'a b'\nc":                                  {[][]string{{"cat"}, {"c"}}, true},
		"((a << 2))\nb":                                     {[][]string{{"a"}, {"b"}}, false},
		"A=1 B=2 sudo -n make x":                            {[][]string{{"make", "x"}}, false},
		"timeout -k 5 60s go test":                          {[][]string{{"go", "test"}}, false},
		"rtk nice -n 5 git commit -m x":                     {[][]string{{"git", "commit", "-m", "x"}}, false},
		"time -p env -u A B=1 git push":                     {[][]string{{"git", "push"}}, false},
		"x=$(a | b; c) && d":                                {[][]string{nil, {"d"}}, false},
		"echo `date` 'unclosed":                             {[][]string{{"echo", "date", "unclosed"}}, false},
		"if a; then b; fi":                                  {[][]string{{"a"}, {"b"}, {"fi"}}, true},
		"$(":                                                {[][]string{{"$("}}, false},
	} {
		got := shellcmd.Split(text)
		if diff := cmp.Diff(want.words, got.Words(), cmpopts.EquateEmpty()); diff != "" || got.Masked() != want.masked {
			t.Errorf("%q: masked %v %s", text, got.Masked(), diff)
		}
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"go test ./... -run X":                           {"tests"},
		"/usr/local/go/bin/go build ./...":               {"builds"},
		"go vet ./... && golangci-lint run":              {"lints"},
		"mise run fmt && mise run lint && mise run test": {"tests", "lints"},
		"npm run test:unit":                              {"tests"},
		"npm test":                                       {"tests"},
		"yarn build":                                     {"builds"},
		"make":                                           {"builds"},
		"make -j4 check":                                 {"lints"},
		"python -m pytest tests/x.py":                    {"tests"},
		"npx tsc --noEmit":                               {"builds"},
		"cargo clippy":                                   {"lints"},
		"git commit -m x && git push":                    {"commits", "pushes"},
		"git merge origin/main":                          {"commits"},
		"ls test":                                        nil,
		"cat test/build.go":                              nil,
		"python scripts/test.py":                         nil,
		"git status":                                     nil,
	} {
		if diff := cmp.Diff(want, shellcmd.Split(text).CheckNames()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestTrivial(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ls -la": true, "cat a | head -5": true, "cd x && ls": true, "git status": true, "git -C /w log --oneline": true, "git diff | cat": true,
		"X=1": true, "gh pr view 3": true, "go version": true, "node --version": true, "": true, "grep -rn x . | wc -l": true,
		"go test ./...": false, "cd x && make": false, "git commit -m x": false, "git add -A": false, "npm install": false, "rm -rf x": false,
		"gh pr create": false, "gh api x -f body=y": false, "docker compose up -d": false, "./run.sh": false,
	} {
		if got := shellcmd.Split(text).Trivial(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		command, output string
		want            recall.Outcome
	}{
		{"go test ./...", "whatever", recall.Passed},
		{"go test ./... | tail -5", "ok  \ta\t0.1s\nok  \tb\t0.1s", recall.Passed},
		{"go test ./... | tail -5", "ok  \ta\t0.1s\nFAIL\tb\t0.1s", recall.Failed},
		{"go test ./... | head -5", "ok  \ta\t0.1s", recall.Unknown},
		{"go test ./... | head -5", "--- FAIL: TestX", recall.Failed},
		{"go test ./... | tail -5", "some words", recall.Unknown},
		{"mix test 2>&1 | tail -5", "Finished in 2.1 seconds\n45 tests, 0 failures", recall.Passed},
		{"mix test 2>&1 | grep failures", "45 tests, 0 failures", recall.Passed},
		{"mix test 2>&1 | tail -5", "45 tests, 2 failures", recall.Failed},
		{"npm test | tail", "Tests:       1 failed, 4 passed, 5 total", recall.Failed},
		{"npm test | tail", "Tests:       5 passed, 5 total", recall.Passed},
		{"pytest -q | tail -3", "10 passed, 0 failed in 2s", recall.Passed},
		{"go test -json ./... | python3 count.py", "Passed: 254, Failed: 0\nWall clock: 51.5s", recall.Passed},
		{"go test -json ./... | python3 count.py", "Passed: 89, Failed: 1\nWall clock: 19.4s", recall.Failed},
		{"golangci-lint run | tail", "0 issues.", recall.Passed},
		{"golangci-lint run | tail", "3 issues:", recall.Failed},
		{"make test; echo done", "make: *** [x] Error 1\ndone", recall.Failed},
		{"make test || true", "", recall.Unknown},
		{"bun run lint | tail -5 && rtk test bun run test | tail -5", "12 pass\n0 fail", recall.Unknown},
		{"go vet ./...; go test ./...", "FAIL\tb\t0.1s", recall.Failed},
	} {
		if got := shellcmd.Split(test.command).Judge().Outcome(test.output); got != test.want {
			t.Errorf("%s with %q: %s, not %s", test.command, test.output, got, test.want)
		}
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"cat a.go b/c.md":               {"/w/a.go", "/w/b/c.md"},
		"cat /etc/x.conf | head -5":     {"/etc/x.conf"},
		"cd sub && sed -n '1,20p' a.go": {"/w/sub/a.go"},
		"sed -i s/a/b/ a.go":            nil,
		"head -n 20 Makefile":           {"/w/Makefile"},
		"rg 'func x' cmd/main.go":       {"/w/cmd/main.go"},
		"grep -n x *.go dir":            nil,
		"rg main.go":                    nil,
		"cat > new.go <<EOF\nx\nEOF":    nil,
		"cat $FILE ~/x.go a{1,2}.go":    nil,
		"cat 1.5 v1.2 .x":               nil,
		"cat ../up.ts":                  {"/up.ts"},
		"echo a.go":                     nil,
		"cat \"with space.txt\" 'é.md'": {"/w/with space.txt", "/w/é.md"},
	} {
		if diff := cmp.Diff(want, shellcmd.Split(text).Files("/w")); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if got := shellcmd.Split("cat a.go").Files(""); got != nil {
		t.Errorf("without a directory: %q", got)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("go test ./... | tail -5", "45 tests, 0 failures")
	f.Add("cat <<EOF && $( \" ' ` (", "ok")
	f.Fuzz(func(_ *testing.T, text, output string) {
		line := shellcmd.Split(text)
		_, _, _, _ = line.Judge().Outcome(output), line.Trivial(), line.Checks(), line.Files("/w")
	})
}
