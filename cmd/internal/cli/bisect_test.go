package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestBisectInterrupted interrupts a search while its command runs: the command exits as well, and
// the search continues at the same snapshot.
func TestBisectInterrupted(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := newDesk(t)
	bin := filepath.Join(filepath.Dir(program(t)), "agentfs")
	d.agentfs("", "manage", ".", "--name", "p")
	for i := range 8 {
		d.write("n", strconv.Itoa(i+1)+"\n")
		d.agentfs("", "checkpoint", "create", "step")
	}
	d.write("../interrupt.sh", `if [ $ENTIRE_BISECT = v5 ] && [ ! -e $HOME/again ]; then touch $HOME/again; kill -INT $PPID; sleep 1000; fi
echo $ENTIRE_BISECT >> $HOME/runs
test $(cat n) -lt 6
`)
	run := func(args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command(bin, append([]string{"bisect", "run"}, args...)...)
		cmd.Dir, cmd.Env = d.root, d.env
		out, err := cmd.CombinedOutput() // returns when all processes have closed the pipe
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := run("--no-repeat", "--", "sh", d.path("../interrupt.sh"))
	if code != 130 || !strings.Contains(out, "hint: `agentfs bisect run --continue` continues it") {
		t.Errorf("exit %d: %s", code, out)
	}
	out, code = run("--continue")
	if code != 0 || !strings.Contains(out, "v6 is the first bad snapshot, v5 the last good one.") {
		t.Errorf("exit %d: %s", code, out)
	}
	runs, err := os.ReadFile(filepath.Join(d.home, "runs"))
	if err != nil || string(runs) != "v8\nv1\nv5\nv7\nv6\n" {
		t.Errorf("%q, %v", runs, err)
	}
}
