//go:build memory && linux

package testkit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	limit      = 150 << 10 // of the resident set, in KB
	large      = 43_008    // files in the largest folder
	perFolder  = 91
	sparseSize = 16 << 30
)

// plant creates the tree once: MEMORY_FILES files, 43,008 of them in one directory and the others
// in directories of 91.
func plant(t *testing.T, dir string) {
	t.Helper()
	files := 500_000
	if n, err := strconv.Atoi(os.Getenv("MEMORY_FILES")); err == nil {
		files = n
	}
	ready := filepath.Join(dir, ".planted")
	_, gone := os.Lstat(filepath.Join(dir, "data", "pkg00")) // undoing a restore removes the tree
	if text, err := os.ReadFile(ready); err == nil && gone == nil && string(text) == strconv.Itoa(files) {
		return
	}
	must(t, os.RemoveAll(dir))
	write := func(folder, name string, i int) {
		must(t, os.WriteFile(filepath.Join(folder, name), fmt.Appendf(nil, "text of file %d\n", i), 0o644))
	}
	for i := 0; i < files; i++ {
		folder := filepath.Join(dir, "data", "large")
		if i >= large {
			n := (i - large) / perFolder
			folder = filepath.Join(dir, "data", fmt.Sprintf("pkg%02d", n%70), fmt.Sprintf("dir%04d", n))
		}
		if i == 0 || i >= large && (i-large)%perFolder == 0 {
			must(t, os.MkdirAll(folder, 0o755))
		}
		write(folder, fmt.Sprintf("file%06d.txt", i), i)
	}
	must(t, os.WriteFile(ready, []byte(strconv.Itoa(files)), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bench runs programs and records their peak memory.
type bench struct {
	t   *testing.T
	dir string
	env []string
	bin string
}

// run measures a program and the children that it waits for.
func (b *bench) run(name, stdin, program string, args ...string) string {
	b.t.Helper()
	if program == "entire" {
		program = filepath.Join(b.bin, program)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = b.dir, b.env, strings.NewReader(stdin)
	out, stderr := &limited{}, &limited{}
	cmd.Stdout, cmd.Stderr = out, stderr
	if err := cmd.Run(); err != nil {
		b.t.Errorf("%s: %v\n%s", name, err, stderr.buf.String())
		if cmd.ProcessState == nil {
			return ""
		}
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		b.t.Fatal("no usage")
	}
	b.note(name, usage.Maxrss, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if kb := b.settle(); kb > 0 {
		b.note("  its child", kb, 0)
	}
	return out.buf.String()
}

func (b *bench) note(name string, kb int64, cpu time.Duration) {
	b.t.Helper()
	b.t.Logf("| %-46s | %4d | %7.2f |", name, kb>>10, cpu.Seconds())
	if kb > limit {
		b.t.Errorf("%s: %d MB", name, kb>>10)
	}
}

// limited keeps the beginning of a program's output.
type limited struct{ buf bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.buf.Len() < 1<<20 {
		l.buf.Write(p)
	}
	return len(p), nil
}

// settle waits for the background processes of a hook, and returns the highest peak memory seen.
func (b *bench) settle() (kb int64) {
	b.t.Helper()
	for range 60_000 {
		busy := false
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			target, err := os.Readlink(filepath.Join(dir, "exe"))
			if err != nil || !strings.HasPrefix(target, b.bin+"/") {
				continue
			}
			busy = true
			kb = max(kb, peakOf(dir))
		}
		if !busy {
			return kb
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatal("a child does not end")
	return 0
}

// peakOf returns the peak resident set of a process, or 0 if it has exited.
func peakOf(dir string) int64 {
	data, _ := os.ReadFile(filepath.Join(dir, "status"))
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.ParseInt(fields[0], 10, 64)
	return kb
}

func (b *bench) entire(args ...string) string {
	return b.run("entire "+strings.Join(args, " "), "", "entire", args...)
}

func (b *bench) agent(event string, more map[string]any) {
	payload := map[string]any{
		"session_id": "11111111-2222-4333-8444-555555555555", "transcript_path": b.transcript(), "cwd": b.dir, "permission_mode": "default",
	}
	for k, v := range more {
		payload[k] = v
	}
	data, err := json.Marshal(payload)
	must(b.t, err)
	b.run("hook "+event, string(data), "entire", "hooks", "claude-code", event)
}

func (b *bench) transcript() string {
	return filepath.Join(b.dir, ".entire", "tmp", "session.jsonl")
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	must(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(b.t, os.WriteFile(path, []byte(text), 0o644))
}

func (b *bench) git(args ...string) {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (b *bench) sparse(name string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	must(b.t, os.WriteFile(path, []byte("head"), 0o644))
	must(b.t, os.Truncate(path, sparseSize))
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b, cache := emptyBench(t, "memory-tree")
	plant(t, b.dir)
	for _, name := range []string{".git", ".entire", ".claude", "out", "src"} {
		must(t, os.RemoveAll(filepath.Join(cache, "memory-tree", name)))
	}
	return b
}

// emptyBench returns a bench in a directory of the cache that may not exist yet.
func emptyBench(t *testing.T, name string) (b *bench, cache string) {
	t.Helper()
	cache = os.Getenv("MEMORY_CACHE")
	if cache == "" {
		t.Fatal("set MEMORY_CACHE to the folder in which the tree is kept")
	}
	b = &bench{t: t, dir: filepath.Join(cache, name), bin: os.Getenv("MEMORY_BIN")}
	home := filepath.Join(cache, "memory-home")
	must(t, os.RemoveAll(home))
	must(t, os.MkdirAll(home, 0o700))
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "CLAUDE") {
			b.env = append(b.env, v)
		}
	}
	b.env = append(b.env, "HOME="+home, "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "PATH="+b.bin+":"+os.Getenv("PATH"),
		"ENTIRE_TEST_CLAUDE_PROJECT_DIR="+filepath.Join(b.dir, ".entire", "tmp"))
	return b, cache
}

// TestMemoryOfAConversation switches between two lengths of a transcript of 300 MB.
func TestMemoryOfAConversation(t *testing.T) {
	b, _ := emptyBench(t, "memory-conversation")
	must(t, os.RemoveAll(b.dir))
	must(t, os.MkdirAll(filepath.Dir(b.transcript()), 0o755))
	t.Cleanup(func() { must(t, os.RemoveAll(b.dir)) })
	b.write("main.go", "package main\n")
	b.git("init", "-q")
	b.git("add", "main.go")
	b.git("commit", "-qm", "start")
	b.entire("enable", "--agent", "claude-code")
	b.say("user", "change the program")
	b.agent("session-start", map[string]any{"source": "startup"})
	b.agent("user-prompt-submit", map[string]any{"prompt": "change the program"})
	b.write("main.go", "package main\n\nfunc main() {}\n")
	for range 300 {
		b.say("assistant", strings.Repeat("what the agent has to say of it. ", 1<<20/33))
	}
	b.agent("stop", nil)
	first := b.size(b.transcript())
	b.say("user", "go on")
	b.agent("user-prompt-submit", map[string]any{"prompt": "go on"})
	b.write("main.go", "package main\n")
	b.say("assistant", "done")
	b.agent("stop", nil)
	second := b.size(b.transcript())
	b.entire("rewind", "--to", "v2", "--conversation", "-f")
	if got := b.size(b.transcript()); got != first {
		t.Errorf("the transcript has %d bytes, want %d", got, first)
	}
	b.entire("rewind", "--undo", "-f")
	if got := b.size(b.transcript()); got != second {
		t.Errorf("the transcript has %d bytes after the undo, want %d", got, second)
	}
}

func (b *bench) size(path string) int64 {
	b.t.Helper()
	info, err := os.Stat(path)
	must(b.t, err)
	return info.Size()
}

// TestMemory runs every command and hook that reads a tree.
func TestMemory(t *testing.T) {
	b := newBench(t)
	b.write("src/main.go", "package main\n")
	b.write(".gitignore", "data/\n*.img\n.planted\nout/\n")
	b.sparse("disk.img")
	b.git("init", "-q")
	b.git("add", "src", ".gitignore")
	b.git("commit", "-qm", "start")
	b.entire("enable", "--agent", "claude-code")
	must(t, os.MkdirAll(filepath.Dir(b.transcript()), 0o755))
	b.say("user", "change the program")

	b.agent("session-start", map[string]any{"source": "startup"})
	b.agent("user-prompt-submit", map[string]any{"prompt": "change the program"})
	b.entire("fs", "checkpoint", "create", "first")

	b.write("src/main.go", "package main\n\nfunc main() {}\n")
	for i := range 1000 {
		b.write(fmt.Sprintf("data/large/file%06d.txt", i*43), fmt.Sprintf("changed %d\n", i))
	}
	b.say("assistant", "changed the program")
	b.agent("post-todo", map[string]any{"tool_name": "TodoWrite", "tool_input": map[string]any{"todos": []any{}}, "tool_use_id": "t1"})
	b.agent("stop", nil)
	b.run("git commit", "", "git", "commit", "-qam", "work")

	b.must(os.Remove(filepath.Join(b.dir, "disk.img")))
	b.entire("fs", "diff", "v1")
	b.sparse("disk.img")
	f, err := os.OpenFile(filepath.Join(b.dir, "disk.img"), os.O_WRONLY, 0)
	b.must(err)
	_, err = f.WriteAt([]byte("tail"), sparseSize-4)
	b.must(errors.Join(err, f.Close()))
	b.entire("fs", "diff", "v1")
	b.entire("fs", "diff", "v1", "--", "disk.img", "src")
	b.entire("fs", "checkpoint", "create", "second")
	b.entire("fs", "checkpoint", "list")
	b.entire("fs", "checkpoint", "info", "v1")
	b.entire("fs", "show", "v1:src/main.go")
	b.entire("fs", "restore", "v1", "--dry-run")
	b.entire("fs", "restore", "v1", "-f")
	b.must(os.RemoveAll(filepath.Join(b.dir, "data", "large")))
	b.entire("fs", "restore", "v1", "-f")
	b.must(os.RemoveAll(filepath.Join(b.dir, "data")))
	b.run("entire fs restore v1 -f, everything deleted", "", "entire", "fs", "restore", "v1", "-f")
	for _, name := range []string{"list", "status", "du", "doctor", "verify", "prune"} {
		b.entire("fs", name)
	}
	b.must(os.RemoveAll(filepath.Join(filepath.Dir(b.dir), "memory-out")))
	b.entire("fs", "export", "v1", filepath.Join(filepath.Dir(b.dir), "memory-out"), "--ignored")
	b.must(os.RemoveAll(filepath.Join(filepath.Dir(b.dir), "memory-out")))

	b.entire("status")
	b.entire("explain", "--no-pager")
	b.entire("explain", "--commit", "HEAD", "--no-pager")
	b.entire("rewind", "--list")
	b.entire("rewind", "--to", "v1", "--preview")
	b.entire("rewind", "--to", "v1", "-f")
	b.entire("rewind", "--undo", "-f")
	b.agent("session-end", map[string]any{"reason": "exit"})
	b.entire("recall")
	b.entire("clean")
	b.entire("clean", "-f")
	b.entire("doctor")
	b.entire("reset", "-f")
	b.entire("disable", "--uninstall", "--force")
}

func (b *bench) must(err error) {
	b.t.Helper()
	must(b.t, err)
}

// say adds a line to the transcript.
func (b *bench) say(kind, text string) {
	b.t.Helper()
	line := fmt.Sprintf(`{"type":%q,"uuid":"%d","sessionId":"11111111-2222-4333-8444-555555555555","message":{"role":%q,"content":%q}}`+"\n",
		kind, time.Now().UnixNano(), kind, text)
	f, err := os.OpenFile(b.transcript(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(b.t, err)
	_, err = f.WriteString(line)
	must(b.t, errors.Join(err, f.Close()))
}
