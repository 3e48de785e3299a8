package cli_test

import (
	"slices"
	"strings"
	"testing"
)

// TestMistakes runs commands that got a long or unhelpful reply when people tried the program. A
// command with one obvious meaning is executed. The others are refused in at most three lines, with
// an exit status for scripts and the right command.
func TestMistakes(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.env = append(d.env, "ENTIRE_BANDS_ENABLED=true", "ENTIRE_NO_DETACH=1")
	d.must("enable", "--agent", "claude-code", "--local")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		d.write(name, name)
		d.must("fs", "checkpoint", "create", name)
	}
	d.must("log") // fills the index, which any command that reads turns would make
	for _, c := range []struct {
		args []string
		code int
		text string // must be on one of the lines
	}{
		// Arguments that name a thing, if only one thing can be meant.
		{[]string{"explain", "HEAD"}, 0, "No associated Entire checkpoint"},
		{[]string{"explain", "-c", "HEAD"}, 0, "No associated Entire checkpoint"},
		{[]string{"explain", "src/auth.js"}, 1, "hint: `entire log --commits` lists the checkpoints of this branch, `entire log --sessions` all sessions"},
		{[]string{"explain", "9a1a3637b5f5"}, 1, "hint: `entire log --commits` lists the checkpoints of this branch, `entire log --sessions` all sessions"},
		{[]string{"explain", "--session", "zzz"}, 1, "hint: `entire log --sessions` lists the sessions"},
		{[]string{"rewind", "v2", "--preview"}, 0, "kept c.txt: created later, not by an agent (--exact removes it)"},
		{[]string{"rewind", "2", "--preview"}, 0, "kept c.txt: created later, not by an agent (--exact removes it)"},
		{[]string{"rewind", "v99"}, 1, "hint: `entire rewind --list` lists the points"},
		{[]string{"rewind", "5m", "--preview"}, 1, "hint: `entire rewind --list` lists the points"},
		{[]string{"rewind", "2 turns ago", "--preview"}, 1, "hint: `entire rewind --list` lists the points"},
		{[]string{"rewind", "last turn", "--preview"}, 1, "hint: `entire rewind --list` lists the points"},
		{[]string{"rewind", "today 11:43", "--preview"}, 1, "hint: `entire rewind --list` lists the points"},
		{[]string{"rewind", "half an hour ago", "--preview"}, 1, "hint: `entire rewind --list` lists the points"},
		{[]string{"rewind", "Add rate limiting", "--preview"}, 1, "hint: `entire rewind --list` lists the points"},
		{[]string{"rewind", "5bea", "--preview"}, 1, "hint: `entire rewind --list` lists the points"},
		{[]string{"resume", "5beab0c"}, 1, "hint: `entire log --sessions` lists sessions; a new branch may need `git fetch"},
		{[]string{"resume"}, 2, "hint: type entire resume <branch | commit | checkpoint | session>; `entire log --sessions` lists sessions"},
		{[]string{"recall", "save", "login works"}, 1, "hint: only sessions that ran with recording on can be saved; `entire status` lists them"},
		// Paths without matching files.
		{[]string{"rewind", "--to", "v2", "--paths", "src/nope"}, 1, "no file matches src/nope in v2 or now"},
		{[]string{"rewind", "--to", "v2", "--paths", "a,b"}, 1, "hint: repeat --paths for each path"},
		{[]string{"fs", "restore", "v2", "--force", "--", "nope"}, 1, "no file matches nope in v2 or $WORK"},
		{[]string{"fs", "diff", "v1", "v2", "--", "nope"}, 1, "no file matches nope in v1 or v2"},
		// Names and flags of other programs.
		{[]string{"explane"}, 2, "hint: did you mean `entire show`, `entire log --commits`?"},
		{[]string{"rewnd"}, 2, "hint: did you mean `entire rewind`?"},
		{[]string{"list"}, 2, "hint: `entire log` lists turns, `entire log --sessions` sessions, `entire snapshot` snapshots"},
		{[]string{"rollback"}, 2, "hint: did you mean `entire rewind`?"},
		{[]string{"--version"}, 0, "Entire CLI 1.2.3"},
		{[]string{"enable", "--agent", "claude"}, 2, "hint: did you mean --agent claude-code?"},
		{[]string{"enable", "--agent", "pi", "--mcp"}, 2, `Error: Invalid usage: --mcp: Pi doesn't support MCP servers`},
		{[]string{"enable", "--agent", "amp"}, 2, `Error: Invalid usage: amp can't be recorded: Amp has no hooks, and keeps its transcripts on its server`},
		{[]string{"report", "--md", "main..HEAD"}, 2, "hint: type entire report --md - main..HEAD"},
		{[]string{"config", "log_level=debug"}, 0, "log_level  debug  local ($WORK/.entire/settings.local.json)"},
		{[]string{"config", "set"}, 2, "hint: type entire config set <key> <value>"},
		{[]string{"config", "set", "strategy", "auto"}, 2, `allowed: "manual-commit" or "auto-commit"`},
		{[]string{"rewind", "--all", "--code"}, 2, "Error: Invalid usage: --all and --code can't be combined"},
		{[]string{"clean", "--dry-run"}, 0, "No orphaned items to clean up."},
		{[]string{"reset"}, 0, "Nothing to reset"},
		{[]string{"disable", "--uninstall"}, 2, "hint: pass --force"},
		{[]string{"fs", "diff", "v1..v2"}, 0, "Added:    a.txt"},
		{[]string{"fs", "diff", "v1..v2", "--stat"}, 0, "Added:    a.txt"},
		{[]string{"fs", "show", "v2", "a.txt"}, 0, "a.txt"},
		{[]string{"fs", "log"}, 0, "a.txt"},
		{[]string{"fs", "restore"}, 2, "hint: type entire fs restore <version> [-- path...]"},
		{[]string{"fs", "checkpoint", "delete", "v1", "v2"}, 2, "hint: pass --force"},
	} {
		before := d.snapshot()
		r := d.entire(c.args...)
		lines := strings.Split(strings.TrimRight(r.out+r.err, "\n"), "\n")
		named := slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, c.text) })
		if r.code != c.code || !named || r.code != 0 && (len(lines) > 3 || r.out != "") {
			t.Errorf("entire %q: exit %d, %q", c.args, r.code, lines)
		}
		if after := d.snapshot(); r.code != 0 && len(after) != len(before) {
			t.Errorf("entire %q: %d files, before %d", c.args, len(after), len(before))
		}
	}
}
