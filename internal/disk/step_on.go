//go:build faults

package disk

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// steps counts the steps of this process.
var steps atomic.Int64 //nolint:gochecknoglobals // test builds only: the count is the process's own

// Step marks a write to a file, an object or a ref, named by op and path.
//
// ENTIRE_FAULT selects the fault: "crash:N" kills the process at its Nth step, "fail:N" makes the
// Nth and every later step fail with ENOSPC, "fail:N:TEXT" only those whose path contains TEXT;
// "stop:N" stops the process before its Nth step until SIGCONT. ENTIRE_FAULT_IN limits this to
// processes whose arguments contain its text. ENTIRE_FAULT_MARK names a file that gets a line for
// each fault; once it exists no process is killed or stopped. ENTIRE_FAULT_LOG names a file that
// gets a line for each step.
func Step(op, path string) error {
	n := steps.Add(1)
	line := fmt.Sprintf("%d %d %s %s", os.Getpid(), n, op, path)
	note("ENTIRE_FAULT_LOG", line)
	fault := os.Getenv("ENTIRE_FAULT")
	if fault == "" || !strings.Contains(strings.Join(os.Args[1:], " "), os.Getenv("ENTIRE_FAULT_IN")) {
		return nil
	}
	parts := strings.SplitN(fault, ":", 3)
	if at, err := strconv.ParseInt(parts[1], 10, 64); err != nil {
		return err
	} else if n < at {
		return nil
	}
	switch {
	case parts[0] == "crash":
		if marked() {
			return nil
		}
		note("ENTIRE_FAULT_MARK", line)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case parts[0] == "stop":
		if !marked() {
			note("ENTIRE_FAULT_MARK", line)
			return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
		return nil
	case len(parts) == 3 && !strings.Contains(path, parts[2]):
		return nil
	}
	note("ENTIRE_FAULT_MARK", line)
	return fmt.Errorf("%s %s: %w", op, path, syscall.ENOSPC)
}

// marked reports whether some process already had a fault.
func marked() bool {
	_, err := os.Lstat(os.Getenv("ENTIRE_FAULT_MARK")) //nolint:gosec // the tests name it
	return err == nil
}

// note appends a line to the file named by the variable, if it is set.
func note(variable, line string) {
	name := os.Getenv(variable)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // the tests name it
	if err != nil {
		return
	}
	_, _ = fmt.Fprintln(f, line)
	_ = f.Close()
}
