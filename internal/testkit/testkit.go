// Package testkit has the code that the tests of this project share: a clean environment, real git
// repositories of every kind, a Session that plays Claude Code against the built binary, readers
// for the data that the binary stored, and Check, which verifies the rules of the format in a
// repository.
//
// It implements the formats from their description only and imports none of the packages under
// test, so that a test never agrees with a bug.
package testkit

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// TB has the methods of a test that the helpers need. Both testing.TB and a script, which isn't a
// testing.TB, implement it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Env is the environment of a process: KEY=value, later entries win.
type Env []string

// CleanEnv returns the environment of a user at a terminal, with an empty HOME and only PATH from
// the caller. If ENTIRE_TEST_PRIMARY is set, new checkpoints have the form that it names.
func CleanEnv(home, tmp, path string) Env {
	env := Env{
		"PATH=" + path, "HOME=" + home, "TMPDIR=" + tmp,
		"LC_ALL=C", "TZ=UTC", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_EDITOR=true", "GIT_MERGE_AUTOEDIT=no",
		"ENTIRE_TEST_TTY=1", "ENTIRE_NO_DETACH=1", "GORACE=atexit_sleep_ms=0",
	}
	if form := os.Getenv("ENTIRE_TEST_PRIMARY"); form != "" {
		env = append(env, "ENTIRE_CHECKPOINTS_PRIMARY="+form)
	}
	return env
}

// With returns a copy with the given entries set.
func (e Env) With(entries ...string) Env {
	return append(slices.Clone(e), entries...)
}

// Without returns a copy without the named variables.
func (e Env) Without(names ...string) Env {
	return slices.DeleteFunc(slices.Clone(e), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}

// Get returns the effective value.
func (e Env) Get(name string) string {
	for _, entry := range slices.Backward(e) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// Effective returns the entries that are in force, as a process gets them.
func (e Env) Effective() []string {
	var list []string
	for i, entry := range e {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(e[i+1:], func(later string) bool { return strings.HasPrefix(later, name+"=") }) {
			list = append(list, entry)
		}
	}
	return list
}

// Result is the result of a process.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Call is one process to run.
type Call struct {
	Dir   string
	Env   Env
	Stdin string
	Name  string
	Args  []string

	// InProcess runs the call in the process of the test, and returns false if it needs one of
	// its own; nil: each call is a process.
	InProcess func(Call) (Result, bool)
}

// Run runs the call and fails the test only if it can't be started.
func (c Call) Run(tb TB) Result {
	tb.Helper()
	if c.InProcess != nil {
		if result, ok := c.InProcess(c); ok {
			return result
		}
	}
	cmd := exec.Command(c.LookPath(), c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env.With("PWD="+c.Dir), strings.NewReader(c.Stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		tb.Fatalf("%s %q: %v", c.Name, c.Args, err)
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// Must runs the call and fails the test unless it exits with 0. It returns
// the standard output without its last newline.
func (c Call) Must(tb TB) string {
	tb.Helper()
	result := c.Run(tb)
	if result.Code != 0 {
		tb.Fatalf("%s %q in %s: exit %d\n%s%s", c.Name, c.Args, c.Dir, result.Code, result.Stdout, result.Stderr)
	}
	return strings.TrimSuffix(result.Stdout, "\n")
}

// LookPath finds the program on the PATH of the call, not of the test.
func (c Call) LookPath() string {
	if strings.ContainsRune(c.Name, '/') {
		return c.Name
	}
	for _, dir := range filepath.SplitList(c.Env.Get("PATH")) {
		candidate := filepath.Join(dir, c.Name)
		if info, err := os.Stat(candidate); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return candidate
		}
	}
	return c.Name
}
