package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// day plays what docs/day.txt shows, and writes it down.
type day struct {
	*testkit.Repo

	text strings.Builder
}

func (d *day) line(text string) { d.text.WriteString(text + "\n") }

// run runs a command, and writes down it and its output.
func (d *day) run(command string) {
	d.TB.Helper()
	d.line("$ " + command)
	if out := strings.TrimRight(d.Sh("{ "+command+"; } 2>&1"), "\n"); out != "" {
		d.line(out)
	}
}

// turn plays a turn of the agent, and writes down its prompt and its answer.
func (d *day) turn(s *testkit.Session, prompt string, work func(), answer string) {
	d.TB.Helper()
	s.Prompt(prompt)
	work()
	s.Say(answer)
	s.Stop()
	d.line("> " + prompt)
	d.line("* " + answer)
}

// TestDay compares docs/day.txt, of which `make picture` makes the picture in the README, with what
// the program prints. Ids, times, and how long it took differ. ENTIRE_UPDATE=1 records it again.
func TestDay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	repo, _ := testkit.NewRepo(t, filepath.Join(dir, "w"), "plain", testkit.CleanEnv(home, t.TempDir(), os.Getenv("PATH")))
	d := &day{Repo: repo}
	d.Write(".gitignore", ".env\n*.db\n")
	d.Commit("ignore files")
	d.Write(".env", "API_KEY=only-here\n")
	d.Write("data.db", "rows\n")

	d.line("# Once in a repository")
	d.run("entire enable --agent claude-code")
	d.Commit("record sessions")

	d.line("# Work and commit as always: the commit is linked to the conversation")
	s := testkit.NewSession(repo, "day", "")
	s.Start("startup")
	d.turn(s, "Limit logins to five a minute", func() {
		s.Write("src/limit.js", "const tries = new Map()\n\nexports.allow = (address) => {\n  // five a minute\n}\n")
	}, "Added src/limit.js: five tries a minute for each address.")
	d.run("git add . && git commit -qm 'feat: limit logins'")
	d.run("git log -1 --format=%B")

	d.line("# A month later: what was asked, said and done for it?")
	d.run("entire show HEAD")

	d.line("# A turn goes wrong: files that git doesn't know are gone")
	d.turn(s, "Remove what isn't used", func() { s.Bash("rm .env data.db") }, "Removed two files that nothing imports.")
	d.run("cat .env || entire rewind last")
	d.run("cat .env")

	d.line("# The context is cleared: the next session knows where the work is")
	d.turn(s, "Answer 429, and say when to try again", func() {
		s.Edit("src/limit.js", "// five a minute", "// five a minute, then 429 with Retry-After")
		s.Ran("npm test", "12 passing")
	}, "A sixth try gets 429 and Retry-After. The README doesn't mention it yet.")
	s.End("clear")
	d.line("> /clear")
	testkit.NewSession(repo, "next day", "").Start("clear")
	d.run("entire recall | head -n 11")

	const file = "../../docs/day.txt"
	if os.Getenv("ENTIRE_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(d.text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	varies := regexp.MustCompile(`[0-9a-f]{6}-[0-9a-f]{6}|[0-9a-f]{7,12}|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|\(\d+ms\)|[\d.]+K|\d+ tokens`)
	if diff := cmp.Diff(varies.ReplaceAllString(string(recorded), "?"), varies.ReplaceAllString(d.text.String(), "?")); diff != "" {
		t.Errorf("make picture records it again:\n%s", diff)
	}
}
