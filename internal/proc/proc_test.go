package proc_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/proc"
)

func TestAlive(t *testing.T) {
	t.Parallel()
	const script = "echo; read line"
	child := exec.Command("sh", "-c", script)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // once it writes, it has its arguments
		t.Fatal(err)
	}
	pid := child.Process.Pid
	info, known := proc.Inspect(pid)
	if !proc.Alive(pid, info.Start) || !proc.Alive(pid, 0) {
		t.Error("a running process is not alive")
	}
	if known {
		if info.Parent != os.Getpid() || len(info.Args) != 3 || info.Args[2] != script {
			t.Errorf("it is %+v", info)
		}
		if age, ok := info.Age(); !ok || age < -time.Second || age > time.Minute {
			t.Errorf("it is %v old", age)
		}
		if proc.Alive(pid, info.Start+1) {
			t.Error("a process that began at another time is taken for it")
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if proc.Alive(pid, info.Start) {
		t.Error("a dead process is alive")
	}
	if proc.Alive(0, 0) || proc.Alive(-1, 0) {
		t.Error("no process at all is alive")
	}
}

func TestDetachedChildInheritsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "answer")
	if err := exec.Command("mkfifo", fifo).Run(); err != nil {
		t.Skip("needs mkfifo(1) to hear of the child")
	}
	child := proc.Detached{
		Path: "/bin/sh", Dir: dir, Env: []string{"MARK=here", "PATH=" + os.Getenv("PATH")},
		Args: []string{"-c", `exec 3> answer; read line; echo "$? $MARK $PWD $HOME" >&3`},
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(file).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(line); got != "1 here "+dir && got != "1 here "+resolved {
		t.Errorf("the child says %q", got)
	}
	if err := (proc.Detached{Path: filepath.Join(dir, "missing")}).Start(); err == nil {
		t.Error("a program that isn't there was started")
	}
}
