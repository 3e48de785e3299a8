// Package proc starts every process that is not git, and reports on the
// processes around this one.
package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Replace replaces this program with another one, in the same process: open files, working directory
// and terminal stay. It returns only on failure.
func Replace(path string, args, env []string) error {
	return syscall.Exec(path, append([]string{path}, args...), env)
}

// Detached is a child that outlives this process.
type Detached struct {
	Path string   // the program
	Args []string // its arguments, without the program
	Dir  string   // its working directory
	Env  []string // its environment
}

// Start starts the child in a session of its own, without any of this process's open files, and
// doesn't wait for it.
func (d Detached) Start() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(d.Path), err)
	}
	defer func() { _ = null.Close() }()
	cmd := exec.Command(d.Path, d.Args...) //nolint:noctx // our own program, which must outlive every context
	cmd.Dir, cmd.Env = d.Dir, d.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, null
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(d.Path), err)
	}
	return cmd.Process.Release()
}

// Info is the system's information about a process.
type Info struct {
	PID, Parent int
	Start       uint64 // in the system's own units, zero if it isn't reported
	Args        []string
}

// ticksPerSecond is the unit of Info.Start on every Linux that Go supports.
const ticksPerSecond = 100

// Age returns how long the process has been running, accurate to some hundredths of a second. It
// returns false if the system doesn't report it.
func (i Info) Age() (time.Duration, bool) {
	data, err := os.ReadFile("/proc/uptime")
	if err != nil || i.Start == 0 {
		return 0, false
	}
	up, _, _ := strings.Cut(string(data), " ")
	seconds, err := strconv.ParseFloat(up, 64)
	if err != nil {
		return 0, false
	}
	return time.Duration((seconds - float64(i.Start)/ticksPerSecond) * float64(time.Second)), true
}

// Alive reports whether the process with this number and start time is still running. A start of
// zero is not compared. Without /proc a process that can be signaled counts as alive.
func Alive(pid int, start uint64) bool {
	if pid <= 0 {
		return false
	}
	if info, ok := Inspect(pid); ok {
		return start == 0 || start == info.Start
	}
	if _, ok := Inspect(os.Getpid()); ok {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// Ancestors returns at most six ancestors of this process, its parent first, as far as the system
// reports them.
func Ancestors() []Info {
	const most = 6
	var list []Info
	for pid := os.Getppid(); len(list) < most && pid > 1; {
		info, ok := Inspect(pid)
		if !ok {
			break
		}
		list = append(list, info)
		pid = info.Parent
	}
	return list
}

// isGit reports whether a program is git itself or one of its commands, rather than another one
// with a similar name: gitk, gitui, gitkraken.
func isGit(program string) bool {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	return name == "git" || strings.HasPrefix(name, "git-")
}

// Caller returns the git process that runs this hook: the nearest ancestor whose program is git, at
// most four levels up.
func Caller() (Info, bool) {
	pid := os.Getppid()
	for range 4 {
		info, ok := Inspect(pid)
		if !ok || pid <= 1 {
			return Info{}, false
		}
		if len(info.Args) > 0 && isGit(info.Args[0]) {
			return info, true
		}
		pid = info.Parent
	}
	return Info{}, false
}

// Guard is a program that outlives this process. Its standard input ends when this process exits
// for any reason, or when the function returned by Start is called.
type Guard struct {
	Path string     // the program
	Args []string   // its arguments, without the program
	Env  []string   // its environment
	Open []*os.File // files that become its descriptors 3, 4, ...
}

// Start starts the program in a session of its own. Calling end closes its standard input; its exit
// is not awaited.
func (g Guard) Start() (end func(), err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(g.Path), err)
	}
	defer func() { _ = read.Close() }()
	cmd := exec.Command(g.Path, g.Args...) //nolint:noctx // it must outlive every context
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.ExtraFiles = g.Env, "/", read, g.Open
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = write.Close() // nothing was written
		return nil, fmt.Errorf("start %s: %w", filepath.Base(g.Path), err)
	}
	return func() {
		_ = write.Close()
		go func() { _ = cmd.Wait() }() // its exit status is irrelevant
	}, nil
}
