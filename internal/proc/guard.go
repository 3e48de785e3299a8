package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Guard is a program that outlives this process, however that ends: its standard input ends
// with this process, or with what Start returns.
type Guard struct {
	Path string     // the program
	Args []string   // its arguments, without the program
	Env  []string   // its environment
	Open []*os.File // what it has open as its descriptors 3, 4, ...
}

// Start starts it in a session of its own. What it returns ends its standard input; nobody
// waits for it.
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
		_ = write.Close() // it has nothing in it
		return nil, fmt.Errorf("start %s: %w", filepath.Base(g.Path), err)
	}
	return func() {
		_ = write.Close()
		go func() { _ = cmd.Wait() }() // its exit status means nothing
	}, nil
}
