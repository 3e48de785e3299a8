package proc_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-3aff656d/entire/internal/proc"
)

// sh returns a Run of a shell script.
func sh(script string) proc.Run {
	return proc.Run{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH"), "MARK=here"}, Limit: 1 << 10}
}

func TestRun(t *testing.T) {
	t.Parallel()
	run := sh(`cat; echo "$MARK $PWD"`)
	run.Stdin, run.Dir = strings.NewReader("in\n"), "/"
	if out, err := run.Output(t.Context()); err != nil || string(out) != "in\nhere /\n" {
		t.Errorf("%q, %v", out, err)
	}
	out, err := sh("echo out; echo why >&2; exit 3").Output(t.Context())
	exit, failed := errors.AsType[*proc.ExitError](err)
	if !failed || exit.Code != 3 || string(out) != "out\n" || err.Error() != "sh: exit status 3: why" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := (proc.Run{Path: "there-is-no-such-program"}).Output(t.Context()); !errors.Is(err, proc.ErrNoProgram) {
		t.Errorf("%v", err)
	}
}

// TestRunLimitsOutput checks the limit on the output of a program that prints without end.
func TestRunLimitsOutput(t *testing.T) {
	t.Parallel()
	out, err := sh("yes").Output(t.Context())
	if !errors.Is(err, proc.ErrOutput) || len(out) != 1<<10 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// TestRunCancelEndsChildren cancels a program, which may ignore the signal. The pipe is open while
// its child runs.
func TestRunCancelEndsChildren(t *testing.T) {
	t.Parallel()
	for name, trap := range map[string]string{"heeding": "", "deaf": "trap '' TERM; "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				file, err := os.Open(pipe) // blocks until the child opens it
				if err == nil {
					cancel()
					_, err = io.ReadAll(file)
				}
				ended <- err
			}()
			if _, err := sh(trap + "(sleep 1000 > " + pipe + ") & wait").Output(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
