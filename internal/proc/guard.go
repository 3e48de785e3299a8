package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

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
