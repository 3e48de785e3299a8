package hookrun

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// answerTimeout limits the wait for the answer to a question at a commit.
const answerTimeout = 10 * time.Second

// terminal is the terminal of this process, which may have none.
type terminal struct {
	test string // set by a test: 1 with a user at the terminal, 0 without; else empty
}

// attended reports whether the process has a terminal.
func (t terminal) attended() bool {
	switch t.test {
	case "1":
		return true
	case "0":
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return tty.Close() == nil
}

// confirm asks the user. No answer within answerTimeout, or at all, counts as yes.
func (t terminal) confirm(ctx context.Context, question string) bool {
	if t.test != "" {
		return true
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return true
	}
	defer func() { _ = tty.Close() }()
	fmt.Fprintf(tty, "%s [Y/n] ", plain.Visible(question))
	answer := make(chan string, 1)
	go func() { // exits with the process if the terminal doesn't reply
		line, _ := bufio.NewReader(tty).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	wait := time.NewTimer(answerTimeout)
	defer wait.Stop()
	select {
	case a := <-answer:
		return a != "n" && a != "no"
	case <-wait.C:
	case <-ctx.Done():
	}
	fmt.Fprintln(tty)
	return true
}

// detach starts this program again for work that the hook should not wait for.
func (h *hook) detach(args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	child := proc.Detached{Path: self, Args: args, Dir: h.repo.Root, Env: childEnviron(h.app)}
	h.started = true
	if !h.inline && h.app.Getenv("ENTIRE_NO_DETACH") != "1" {
		return child.Start()
	}
	// In tests children run in this process.
	if !slices.ContainsFunc(h.later, func(o []string) bool { return slices.Equal(o, args[1:]) }) {
		h.later = append(h.later, args[1:])
	}
	return nil
}

// childEnviron returns the environment without the variables that git set for its hook: the child
// finds the repository by its folder.
func childEnviron(a *app.App) []string {
	var env []string
	for _, e := range a.Environ {
		if !strings.HasPrefix(e, "GIT_") || strings.HasPrefix(e, "GIT_CONFIG") || strings.HasPrefix(e, "GIT_TRACE") {
			env = append(env, e)
		}
	}
	return env
}
