package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// programsDir is the directory of the real binaries that build creates; TestMain removes it.
var programsDir string

// build builds the real binaries, once.
var build = sync.OnceValue(func() (err error) {
	programsDir, err = os.MkdirTemp("", "programs")
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-o", programsDir, "../../entire", "../../entire-cli", "../../agentfs")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
})

// programs returns the directory of the real binaries.
func programs(t testing.TB) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return programsDir
}

// program returns the path of the real binary.
func program(t testing.TB) string {
	t.Helper()
	return filepath.Join(programs(t), "entire")
}

// screen is a terminal that doesn't reply to queries of the program.
type screen struct {
	testing.TB

	file *os.File
	mu   sync.Mutex // guards text
	text bytes.Buffer
	news chan struct{}
	end  chan struct{} // closed at the end of the output
}

func start(t testing.TB, cmd *exec.Cmd) *screen {
	t.Helper()
	return startOn(t, cmd, 80, 24)
}

// startOn starts a command on a terminal of the size.
func startOn(t testing.TB, cmd *exec.Cmd, columns, rows uint16) *screen {
	t.Helper()
	file, terminal, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	defer func() { _ = terminal.Close() }()
	if err := pty.Setsize(file, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	if cmd.Stdin == nil {
		cmd.Stdin = terminal
	}
	cmd.Stdout, cmd.Stderr = terminal, terminal
	const stdout = 1 // standard input may not be a terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: stdout}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &screen{TB: t, file: file, news: make(chan struct{}, 1), end: make(chan struct{})}
	t.Cleanup(func() { _ = file.Close() })
	go s.read()
	return s
}

func (s *screen) read() {
	defer close(s.end)
	buf := make([]byte, 4096)
	for {
		n, err := s.file.Read(buf)
		s.mu.Lock()
		s.text.Write(buf[:n])
		s.mu.Unlock()
		select {
		case s.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *screen) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait returns once the text was shown.
func (s *screen) wait(text string) {
	s.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(s.shown(), text) {
		select {
		case <-s.news:
		case <-deadline:
			s.Fatalf("%q isn't shown: %q", text, s.shown())
		}
	}
}

func (s *screen) press(keys string) {
	s.Helper()
	if _, err := io.WriteString(s.file, keys); err != nil {
		s.Fatal(err)
	}
}

// pressAndSee returns once the screen has changed.
func (s *screen) pressAndSee(keys string) {
	s.Helper()
	before := len(s.shown())
	s.press(keys)
	for deadline := time.After(20 * time.Second); len(s.shown()) == before; {
		select {
		case <-s.news:
		case <-deadline:
			s.Fatalf("%q changes nothing: %q", keys, s.shown())
		}
	}
}

// TestUnresponsiveTerminal checks that no command waits for a terminal that doesn't reply.
func TestUnresponsiveTerminal(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := repoDesk(t)
	bin := program(t)
	for _, args := range [][]string{{"version"}, {"status"}, {"help"}} {
		began := time.Now()
		quiet := exec.Command(bin, args...)
		quiet.Dir, quiet.Env = d.root, d.with("TERM=xterm-256color")
		if out, err := quiet.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		alone, best := time.Since(began), time.Hour
		for range 5 {
			cmd := exec.Command(bin, args...)
			cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "PAGER=cat")
			began := time.Now()
			s := start(t, cmd)
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			best = min(best, time.Since(began))
			if text := s.shown(); strings.Contains(text, "\x1b]") || strings.Contains(text, "\x1b[c") || strings.Contains(text, "$p") {
				t.Errorf("%q asks the terminal: %q", args, text)
			}
		}
		// An unanswered query times out after seconds, however fast the machine is.
		if best > alone+time.Second {
			t.Errorf("%q takes %v on a terminal that doesn't answer, %v without one", args, best, alone)
		}
	}
}

// TestWidthAndPager checks that no line is wider than the terminal, and that texts longer than it
// go through the pager.
func TestWidthAndPager(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := repoDesk(t)
	bin := program(t)
	d.must("enable", "--agent", "claude-code")
	d.fs("manage", ".", "--name", "myapp")
	d.fs("checkpoint", "create", "one")
	for i := range 30 {
		d.write(fmt.Sprintf("new%02d.txt", i), "x\n")
	}
	for _, args := range []string{
		"help", "help workflows", "rewind --help", "sessions --help", "config", "fs diff v1 --store myapp",
		"fs diff v1 --store myapp -- new01.txt new02.txt new03.txt new04.txt new05.txt", "fs restore v1 --dry-run --store myapp",
	} {
		for _, columns := range []uint16{60, 80, 250} {
			cmd := exec.Command(bin, strings.Fields(args)...)
			cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "NO_COLOR=1", "PAGER=sed 's/^/|/'")
			s := startOn(t, cmd, columns, 20)
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v", args, err)
			}
			<-s.end
			lines := strings.Split(strings.TrimSpace(s.shown()), "\r\n")
			if len(lines) < 20 {
				t.Errorf("%s has only %d lines: %q", args, len(lines), lines)
			}
			for _, line := range lines {
				text, paged := strings.CutPrefix(line, "|")
				if width := ansi.StringWidth(text); !paged || width > int(columns) {
					t.Errorf("%s at %d columns, through the pager: %v, has %d: %q", args, columns, paged, width, line)
				}
			}
		}
	}
}

// TestListsArePaged checks that lists and findings longer than the terminal go through the pager,
// even short ones.
func TestListsArePaged(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := repoDesk(t)
	bin := program(t)
	d.must("enable", "--agent", "claude-code")
	d.fs("manage", ".", "--name", "myapp")
	d.fs("checkpoint", "create", "one")
	d.must("fork", "HEAD")
	if err := os.MkdirAll(d.path(".entire/logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.path(".entire/logs/entire.log"), []byte("a line with walrus-4711\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bands, err := filepath.Glob(filepath.Join(d.home, ".agentfs/stores/myapp/bands/*"))
	if err != nil || len(bands) == 0 {
		t.Fatal(bands, err)
	}
	for _, name := range bands {
		if err := os.Truncate(name, 100); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"fs list": "|NAME", "fork list": "|NAME", "fs verify v1": "|Damaged: ", "forget --text walrus-4711": "|Found in ",
	} {
		cmd := exec.Command(bin, strings.Fields(args)...)
		cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "NO_COLOR=1", "PAGER=sed 's/^/|/'")
		cmd.Stdin = strings.NewReader("")
		s := startOn(t, cmd, 100, 2)
		_ = cmd.Wait() // damage, or a question without a terminal, is an error
		<-s.end
		if !strings.Contains(s.shown(), want) {
			t.Errorf("%s: %q", args, s.shown())
		}
	}
}

// TestSessionPicker chooses the session to resume. Each has a line of its own that names it.
func TestSessionPicker(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := repoDesk(t)
	for i, prompt := range []string{"Limit logins to five a minute, and say how long is left", "日本語のテストを追加してください 🎉 そして長い文", ""} {
		id := fmt.Sprintf("3f9ab1c2-0000-4000-8000-00000000000%d", i)
		d.write("transcript"+id, "{}\n")
		d.write(".git/entire-sessions/"+id+".json", fmt.Sprintf(`{"session_id": %q, "base_commit": "x", "worktree_path": %q, "transcript_path": %q,
			"started_at": "2026-01-0%dT00:00:00Z", "phase": "idle", "first_prompt": %q}`, id, d.root, d.path("transcript"+id), 3-i, prompt))
	}
	for _, columns := range []uint16{60, 80, 250} {
		cmd := exec.Command(program(t), "resume")
		cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "NO_COLOR=1")
		s := startOn(t, cmd, columns, 20)
		s.wait("Resume which session?")
		s.wait("000000000002")
		if columns == 250 { // drawn once before the size of the terminal is known
			s.wait("and say how long is left")
		}
		frames := strings.NewReplacer("\r", "", "\x1b[5A", "\n").Replace(s.shown())
		for line := range strings.SplitSeq(frames, "\n") {
			if width := ansi.StringWidth(line); width > int(columns) {
				t.Errorf("at %d columns a line has %d: %q", columns, width, line)
			}
		}
		if text := ansi.Strip(s.shown()); !strings.Contains(text, "000000000000") {
			t.Errorf("at %d columns: %q", columns, text)
		}
		s.pressAndSee("\x1b[B")
		s.press("\r")
		s.wait("claude -r 3f9ab1c2-0000-4000-8000-000000000001")
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %q", err, s.shown())
		}
	}
}

// TestEnableOnATerminal answers the questions on a terminal.
func TestEnableOnATerminal(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := repoDesk(t)
	cmd := exec.Command(program(t), "enable")
	cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "NO_COLOR=1")
	s := start(t, cmd)
	s.wait("Who is this for?")
	s.pressAndSee("\x1b[C")
	s.press("\r")
	s.wait("Ready.")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %q", err, s.shown())
	}
	if _, err := os.Stat(d.path(".entire/settings.local.json")); err != nil {
		t.Errorf("%v: %q", err, s.shown())
	}
}

// TestEnableOffersImport answers the question whether to import past sessions, which is asked once.
func TestEnableOffersImport(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	for _, answer := range []struct{ key, said string }{{"y", "Imported 1 session"}, {"n", "Ready."}} {
		d := repoDesk(t)
		session := filepath.Join(d.home, ".claude", "projects", testkit.Slug(d.root), "5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl")
		if err := os.MkdirAll(filepath.Dir(session), 0o700); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf(`{"type":"user","uuid":"u1","sessionId":"5c0375b4-57a5-4f26-b12d-d022ee4e51b7","cwd":%q,"timestamp":%q,"message":{"role":"user","content":"Write a page"}}`,
			d.root, time.Now().UTC().Add(-100*24*time.Hour).Format(time.RFC3339))
		if err := os.WriteFile(session, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program(t), "enable")
		cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "NO_COLOR=1")
		s := start(t, cmd)
		s.wait("Who is this for?")
		s.wait("Import 1 session of the last 4 months?")
		s.pressAndSee("\x1b[B")
		s.wait("nothing is sent")
		s.press(answer.key)
		s.press("\r")
		s.wait(answer.said)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v: %q", answer.key, err, s.shown())
		}
		if answer.key == "n" && strings.Contains(s.shown(), "Imported") {
			t.Errorf("imported after no: %q", s.shown())
		}
		cmd = exec.Command(program(t), "enable")
		cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "NO_COLOR=1")
		s = start(t, cmd)
		s.wait("Already enabled")
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s again: %v: %q", answer.key, err, s.shown())
		}
	}
}

// TestInterruptedOnATerminal leaves the form with Ctrl-C.
func TestInterruptedOnATerminal(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := repoDesk(t)
	cmd := exec.Command(program(t), "enable")
	cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color")
	s := start(t, cmd)
	s.wait("Who is this for?")
	s.press("\x03")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d: %q", code, s.shown())
	}
}

// TestForgetOnATerminal checks the question before a text is forgotten: after no the text is kept,
// after yes it is not.
func TestForgetOnATerminal(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := repoDesk(t)
	bin := program(t)
	log := d.path(".entire/logs/entire.log")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, []byte("a line with walrus-4711\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []struct{ key, said, left string }{
		{"n", "Nothing was forgotten", "a line with walrus-4711\n"},
		{"y", "Removed from", "a line with REDACTEDRED\n"},
	} {
		cmd := exec.Command(bin, "forget", "--text", "walrus-4711")
		cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "NO_COLOR=1")
		s := start(t, cmd)
		s.wait("Remove it from all")
		if s.wait("can't be undone"); strings.Contains(s.shown(), "new history") {
			t.Errorf("only a log changes: %q", s.shown())
		}
		s.press(answer.key)
		s.wait(answer.said)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v: %q", answer.key, err, s.shown())
		}
		if data, err := os.ReadFile(log); err != nil || string(data) != answer.left {
			t.Errorf("after %s: %q, %v", answer.key, data, err)
		}
	}
}

// TestEnableInTmux checks that all questions fit on one screen of two sizes, with their defaults
// chosen, and that the next steps are shown at the end.
func TestEnableInTmux(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
	bin := program(t)
	for _, size := range []struct{ columns, rows int }{{80, 24}, {60, 20}} {
		t.Run(fmt.Sprintf("%dx%d", size.columns, size.rows), func(t *testing.T) {
			t.Parallel()
			d := repoDesk(t)
			d.write(".entire/settings.json", `{"strategy_options": {"push_remote": "https://example.com/x", "summarize": {"enabled": true}}}`)
			agent := filepath.Join(filepath.Dir(d.home), "bin", "claude")
			if err := testkit.WriteProgram(agent, "#!/bin/sh\n"); err != nil {
				t.Fatal(err)
			}
			s := startInTmux(t, d, bin+" enable; echo left $?", size.columns, size.rows)
			s.wait("> Ask before /clear", "[yes]  no", "Read context usage", "push recorded sessions", "summarize each session",
				"for you only", "enter accept all · esc leave")
			s.press("Down", "y")
			s.wait("> Read context usage", "saved exactly when needed")
			s.press("Up", "Right")
			s.wait("> Ask before /clear", "yes  [no]")
			s.press("Enter")
			s.wait("summarize each session at commit", "Status line installed", "Next:", "work and commit as usual", "left 0")
			s.lacks("asks before /clear (")

			s = startInTmux(t, repoDesk(t), bin+" enable; echo left $?", size.columns, size.rows)
			s.wait("> Who is this for?", "[everybody here]  only me")
			s.press("Escape")
			s.wait("left 130")
		})
	}
}

// TestPicker picks a point in tmux, on screens of three sizes: the choices are always visible, the
// moments before rewinds are folded into one line, the filter finds files, and Esc and q leave.
func TestPicker(t *testing.T) { //nolint:tparallel // its parts work in one repository, one after another
	t.Parallel()
	testkit.Long(t, "builds the program")
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
	d := repoDesk(t)
	bin := program(t)
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env = d.root, d.with("ENTIRE_NO_DETACH=1", "ENTIRE_BANDS_ENABLED=true")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("entire %q: %v\n%s", args, err, out)
		}
	}
	run("enable", "--agent", "claude-code", "--local")
	name := func(i int) string { return fmt.Sprintf("a-file-with-a-name-that-is-long-enough-to-wrap-%02d.txt", i) }
	for i := range 30 {
		d.write(name(i), "as it was")
	}
	run("fs", "checkpoint", "create", "many files")
	d.write("later.txt", "later")
	run("fs", "checkpoint", "create", "one more")
	run("rewind", "v2", "--exact", "--force")
	run("rewind", "--undo", "--force")
	for i := range 30 {
		d.write(name(i), "changed")
	}
	for _, size := range []struct{ columns, rows int }{{80, 24}, {60, 20}, {110, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size.columns, size.rows), func(t *testing.T) {
			s := startInTmux(t, d, bin+" rewind --exact; echo left $?", size.columns, size.rows)
			s.wait("> v3", "v2", "+ 2 moments before a rewind", "Restore the whole tree", "Restore only what agents changed", "q leave")
			s.lacks("before undo")
			s.press("Down")
			s.wait("> v2", "30 rewritten", "(J scrolls)", "Restore the whole tree")
			s.press("End", "Enter")
			s.wait("- 2 moments", "v5", "v4")
			s.press("/", "later")
			s.wait("/later", "v3")
			s.lacks(" v2 ")
			s.press("Escape")
			s.wait("v2")
			s.press("Home", "Enter")
			s.wait("> 1  Restore the whole tree", "esc back")
			s.press("Escape")
			s.wait("q leave")
			s.press("q")
			s.wait("left 130")
		})
	}
	s := startInTmux(t, d, bin+" rewind --exact; echo left $?", 80, 24)
	s.wait("> v3")
	s.press("Enter", "Enter")
	s.wait("Rewound to v3", "30 rewritten", "left 0")
}

// TestBrowse uses the browser in tmux, on screens of three sizes: every key, a new turn, and a
// screen that is resized.
func TestBrowse(t *testing.T) { //nolint:tparallel // its parts work in one repository, one after another
	t.Parallel()
	testkit.Long(t, "builds the program")
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
	d := repoDesk(t)
	w := newWorker(t, d)
	w.turn("Add a parser", "src/parse.go", "package src\n\nfunc Parse() {}\n")
	d.git("add", ".")
	d.git("commit", "-qm", "Parse")
	w.turn("Make it return \x1b[31mred\x1b[0m", "src/parse.go", "package src\n\nfunc Parse() int { return 1 }\n")
	w.turn("Write the guide", "guide.md", "A walrus.\n")
	for _, size := range []struct{ columns, rows int }{{80, 24}, {60, 20}, {250, 80}} {
		t.Run(fmt.Sprintf("%dx%d", size.columns, size.rows), func(t *testing.T) {
			s := startInTmux(t, d, w.bin+" browse; echo left $?", size.columns, size.rows)
			s.wait("Turns", "1 of ", "> ", "Write the guide", "guide.md  +1 -0", "q leave")
			s.press("Down")
			s.wait("src/parse.go  +1 -1", "Done: Make it return")
			s.press("Enter")
			s.wait("> Make it return", "Asked", "Said", "ok      Write src/parse.go", "q back")
			s.press("/", "int", "Enter", "w")
			s.wait("why src/parse.go:3", "By:       Claude Code", "Make it return")
			s.press("q", "b")
			s.wait("blame src/parse.go", "> -------")
			s.press("q", "q")
			s.wait("q leave")
			s.press("w")
			s.wait("why src/parse.go:3")
			s.press("Escape")
			s.wait("q leave")
			s.press("/", "guide", "Enter")
			s.wait("/guide", "1 of 1", "guide.md")
			s.press("Escape") // a key that follows at once is read as Alt and that key
			s.wait("1 of 3")
			s.press("f", "src", "Enter")
			s.wait("file: src", "1 of 2")
			s.lacks("Write the guide")
			s.press("Escape")
			s.wait("1 of 3")
			s.press("?")
			s.wait("copy the id", "undo the last rewind")
			s.do("set-option", "-s", "set-clipboard", "on")
			s.press("q", "y")
			s.wait("Copied " + w.session)
			s.copied(w.session)
			s.press("r")
			s.wait("Rewind to: 1 before this turn", "2 after it")
			s.press("1")
			s.wait("guide.md", "Rewind to v", "The current state is saved first")
			s.press("y", "Enter")
			s.wait("Rewound to v", "Enter goes back to the list.")
			if _, err := os.Stat(d.path("guide.md")); err == nil {
				t.Error("guide.md is there after the rewind")
			}
			s.press("Enter")
			s.wait("q leave")
			s.press("u")
			s.wait("Undid the rewind to v", "Enter goes back to the list.") // the rewind said "Undid the turn"
			if d.read("guide.md") != "A walrus.\n" {
				t.Error("guide.md isn't back")
			}
			s.press("Enter")
			s.wait("q leave")
			s.do("resize-window", "-x", "70", "-y", "21")
			s.wait("Write the guide", "guide.md  +1 -0", "q leave")
			s.do("resize-window", "-x", "200", "-y", "50")
			s.wait("Write the guide", " | ", "guide.md  +1 -0", "? keys · q leave")
			s.press("q")
			s.wait("left 0")
		})
	}
	s := startInTmux(t, d, "PATH="+w.opener()+":$PATH "+w.bin+" browse --file guide.md; echo left $?", 80, 24)
	s.wait("file: guide.md", "1 of 1", "Write the guide")
	s.press("o")
	s.wait("Wrote ", "session.html", "Enter goes back to the list.")
	if page, err := os.ReadFile(w.opened()); err != nil || !strings.Contains(string(page), "Write the guide") {
		t.Errorf("the opened page: %v, %d bytes", err, len(page))
	}
	s.press("Enter", "Escape")
	s.wait("1 of 3")
	w.turn("Come in meanwhile", "later.txt", "later\n")
	s.wait("1 of 4", "Come in meanwhile", "later.txt  +1 -0")
	s.press("C-c")
	s.wait("left 130")
}

// TestBrowseWithoutScreen checks the hint at the command that prints lines.
func TestBrowseWithoutScreen(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := repoDesk(t)
	if r := d.entire("browse"); r.code != 2 || !strings.Contains(r.err, "hint: `entire log` lists the turns") {
		t.Errorf("%+v", r)
	}
	w := newWorker(t, d)
	w.turn("Add a parser", "src/parse.go", "package src\n")
	for _, mode := range []string{"TERM=dumb", "ACCESSIBLE=1"} {
		cmd := exec.Command(w.bin, "browse")
		cmd.Dir, cmd.Env = d.root, d.with(mode)
		s := start(t, cmd)
		s.wait("`entire log` lists the turns")
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%s: exit %d", mode, cmd.ProcessState.ExitCode())
		}
	}
	// A terminal that doesn't reply to queries, without colors.
	cmd := exec.Command(w.bin, "browse")
	cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "NO_COLOR=1")
	s := start(t, cmd)
	s.wait("Add a parser")
	s.wait("q leave")
	s.press("q")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %q", err, s.shown())
	}
	if styled := regexp.MustCompile(`\x1b\[[0-9;:]*[1-9][0-9;:]*m`).FindString(s.shown()); styled != "" {
		t.Errorf("%q is in %q", styled, s.shown())
	}
}

// worker is an agent at work on a desk.
type worker struct {
	testing.TB

	d       *desk
	bin     string
	session string
	log     string
}

func newWorker(t *testing.T, d *desk) *worker {
	t.Helper()
	w := &worker{TB: t, d: d, bin: program(t), session: "7c1e2f3a-0000-4000-8000-000000000001"}
	onPath := filepath.Join(filepath.Dir(d.home), "bin", "entire") // the git hooks run it
	if err := errors.Join(os.Remove(onPath), os.Symlink(w.bin, onPath)); err != nil {
		t.Fatal(err)
	}
	w.run("", "enable", "--agent", "claude-code", "--local")
	project := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(d.root)
	w.log = filepath.Join(d.home, ".claude", "projects", project, w.session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(w.log), 0o700); err != nil {
		t.Fatal(err)
	}
	w.hook("session-start", map[string]any{"source": "startup"})
	return w
}

func (w *worker) run(stdin string, args ...string) {
	w.Helper()
	cmd := exec.Command(w.bin, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = w.d.root, w.d.with("ENTIRE_NO_DETACH=1", "ENTIRE_BANDS_ENABLED=true"), strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("entire %q: %v\n%s", args, err, out)
	}
}

func (w *worker) hook(verb string, payload map[string]any) {
	w.Helper()
	payload["session_id"], payload["transcript_path"], payload["cwd"] = w.session, w.log, w.d.root
	w.run(w.json(payload), "hooks", "claude-code", verb)
}

func (w *worker) json(v any) string {
	w.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

// turn runs a turn in which a file is written.
func (w *worker) turn(prompt, file, content string) {
	w.Helper()
	w.hook("user-prompt-submit", map[string]any{"prompt": prompt})
	w.d.write(file, content)
	use := map[string]any{"type": "tool_use", "id": "toolu_" + file, "name": "Write", "input": map[string]any{"file_path": w.d.path(file), "content": content}}
	result := map[string]any{"type": "tool_result", "tool_use_id": "toolu_" + file, "content": "ok"}
	for _, m := range []map[string]any{
		{"role": "user", "content": prompt},
		{"role": "assistant", "id": "msg_" + prompt, "model": "claude", "content": []any{use}},
		{"role": "user", "content": []any{result}},
		{"role": "assistant", "id": "msg_end_" + prompt, "model": "claude", "content": []any{map[string]any{"type": "text", "text": "Done: " + prompt}}},
	} {
		w.append(m)
	}
	w.hook("stop", map[string]any{})
}

func (w *worker) append(message map[string]any) {
	w.Helper()
	f, err := os.OpenFile(w.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	id := strconv.FormatInt(time.Now().UnixNano(), 10)
	_, err = f.WriteString(w.json(map[string]any{
		"type": message["role"], "message": message, "sessionId": w.session, "cwd": w.d.root, "uuid": id, "timestamp": time.Now().UTC(), "version": "2.1.328",
	}) + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		w.Fatal(err)
	}
}

// opener creates a program that opens pages, and returns its directory.
func (w *worker) opener() string {
	w.Helper()
	dir := filepath.Join(filepath.Dir(w.d.home), "opener")
	script := "#!/bin/sh\nprintf %s \"$1\" > " + dir + "/new && mv " + dir + "/new " + dir + "/opened\n"
	if err := testkit.WriteProgram(filepath.Join(dir, "xdg-open"), script); err != nil {
		w.Fatal(err)
	}
	return dir
}

// opened waits for the path that the program is called with.
func (w *worker) opened() string {
	w.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if path, err := os.ReadFile(filepath.Join(filepath.Dir(w.d.home), "opener", "opened")); err == nil {
			return string(path)
		}
	}
	w.Fatal("nothing was opened")
	return ""
}

// tmux is a terminal whose screen the test can read.
type tmux struct {
	testing.TB

	socket string
}

// startInTmux runs a shell command on a desk, in a terminal of that size.
func startInTmux(t *testing.T, d *desk, command string, columns, rows int) *tmux {
	t.Helper()
	s := &tmux{TB: t, socket: filepath.Join(t.TempDir(), "socket")}
	cmd := exec.Command("tmux", "-S", s.socket, "-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), command+"; sleep 600")
	cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", "ENTIRE_BANDS_ENABLED=true", "SHELL=/bin/sh")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() { s.do("kill-server") })
	return s
}

func (s *tmux) do(args ...string) string {
	s.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *tmux) press(keys ...string) {
	s.Helper()
	for _, key := range keys {
		s.do("send-keys", key)
	}
}

// patience is for a program on a busy machine.
const patience = time.Minute

// wait returns once all texts are on the screen.
func (s *tmux) wait(texts ...string) {
	s.Helper()
	shown := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		shown = s.do("capture-pane", "-p")
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(shown, text) }) {
			return
		}
	}
	s.Fatalf("%q isn't on the screen:\n%s", texts, shown)
}

// copied waits until the terminal's clipboard contains the text.
func (s *tmux) copied(text string) {
	s.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if strings.TrimSpace(s.do("list-buffers", "-F", "#{buffer_sample}")) == text {
			return
		}
	}
	s.Errorf("the clipboard has %q", s.do("list-buffers"))
}

// lacks waits until the text isn't on the screen: the program writes a screen line by line, so the
// lines above may be there before it is gone.
func (s *tmux) lacks(text string) {
	s.Helper()
	shown := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if shown = s.do("capture-pane", "-p"); !strings.Contains(shown, text) {
			return
		}
	}
	s.Errorf("%q is on the screen:\n%s", text, shown)
}
