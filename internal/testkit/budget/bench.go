package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// bench is one run of the program.
type bench struct {
	options
	testkit.Measurement

	ctx context.Context //nolint:containedctx // the run's own, for as long as it lasts

	work   string // removed at the end
	home   string
	claude string // the agent's session directory
	env    testkit.Env
	table  []*row

	child int64 // peak memory of the largest detached child, in KiB
}

// measure runs every scenario that has a wanted row and prints the table.
func measure(o options, out, progress io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{options: o, Measurement: testkit.Measurement{Progress: progress}, ctx: ctx}
	if err := b.Do(b.all); err != nil {
		return err
	}
	if o.json {
		results := make([]result, len(b.table))
		for i, r := range b.table {
			results[i] = r.result()
		}
		return testkit.PrintJSON(out, results)
	}
	b.printTable(out)
	return nil
}

// all runs the scenarios.
func (b *bench) all() {
	b.Must(os.MkdirAll(b.cache, 0o755))
	work, err := os.MkdirTemp(b.cache, "work-")
	b.Must(err)
	b.work = work
	defer func() {
		// Stop all processes that still run.
		for _, pid := range b.children() {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill() // it may have exited
			}
		}
		for deadline := time.Now().Add(time.Second); len(b.children()) > 0 && time.Now().Before(deadline); {
			time.Sleep(poll)
		}
		b.Must(os.RemoveAll(b.work))
	}()
	b.prepare()
	for _, s := range scenarios() {
		wanted := slices.DeleteFunc(slices.Clone(s.rows), func(r *row) bool { return !b.rows.MatchString(r.Name) })
		if len(wanted) == 0 {
			continue
		}
		began := time.Now()
		s.run(b, s.rows)
		b.Logf("%s: %.0f s", s.name, time.Since(began).Seconds())
		b.table = append(b.table, wanted...)
	}
	// The memory rows: the maximum of all hooks, and of their detached children.
	hooks := &row{Name: "peak memory of a hook", Unit: perMega, Budget: 60}
	for _, r := range b.table {
		if r.Command {
			continue // it would include the mapped packs of its git processes
		}
		for _, each := range append([]*row{r}, r.slowest...) {
			if mb := float64(each.peak()) / mib; mb > hooks.value {
				hooks.value, hooks.slowest = mb, []*row{r}
			}
		}
	}
	child := &row{Name: "peak memory of a detached child", Unit: perMega, value: float64(b.child) / mib}
	b.table = append(b.table, hooks, child)
}

// prepare makes a HOME and a copy of the program, with entire-cli from the same folder, so that a build
// doesn't replace them and all of their processes belong to this run.
func (b *bench) prepare() {
	b.home, b.claude = filepath.Join(b.work, "home"), filepath.Join(b.work, "claude")
	bin := filepath.Join(b.work, "bin")
	for _, dir := range []string{b.home, b.claude, bin} {
		b.Must(os.Mkdir(dir, 0o755))
	}
	info, err := buildinfo.ReadFile(b.bin)
	b.Must(err)
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"}) {
		b.Fatalf("%s was built with cgo, which costs each process a millisecond and 2 MB: run make build", b.bin)
	}
	for _, from := range []string{b.bin, filepath.Join(filepath.Dir(b.bin), "entire-cli")} {
		program, err := os.ReadFile(from)
		if from != b.bin && errors.Is(err, fs.ErrNotExist) {
			continue // an older version
		}
		b.Must(err)
		b.Must(os.WriteFile(filepath.Join(bin, filepath.Base(from)), program, 0o755)) //nolint:gosec // the caller names the folder
	}
	b.bin = filepath.Join(bin, filepath.Base(b.bin))
	config := "[user]\n\tname = Bench\n\temail = bench@example.com\n[gc]\n\tauto = 0\n[init]\n\tdefaultBranch = main\n"
	b.Must(os.WriteFile(filepath.Join(b.home, ".gitconfig"), []byte(config), 0o644))
	path := bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	b.env = testkit.CleanEnv(b.home, b.work, path).Without("ENTIRE_NO_DETACH", "GORACE").
		With("ENTIRE_TEST_CLAUDE_PROJECT_DIR=" + b.claude)
}

// sample has the measurements of a process.
type sample struct {
	ms     float64
	cpu    float64 // ms, including the git processes it waited for
	kib    int64   // peak memory, including the git processes it waited for
	git    int     // number of git processes it started
	logged bool
}

// time measures one process, which must succeed.
func (b *bench) time(c testkit.Call) sample {
	s, code, output := b.execute(c)
	if code != 0 {
		b.Fatalf("%s %s: exit status %d\n%s", c.Name, strings.Join(c.Args, " "), code, output)
	}
	return s
}

// execute measures one process, and returns its exit status and its output.
func (b *bench) execute(c testkit.Call) (s sample, code int, output []byte) {
	if b.ctx.Err() != nil {
		b.Fatalf("interrupted")
	}
	in := filepath.Join(b.work, "in")
	b.Must(os.WriteFile(in, []byte(c.Stdin), 0o600))
	stdin, err := os.Open(in)
	b.Must(err)
	defer func() { _ = stdin.Close() }()
	out, err := os.Create(filepath.Join(b.work, "out"))
	b.Must(err)
	defer func() { _ = out.Close() }()
	name := c.Name
	if name == "entire" {
		name = b.bin
	}
	cmd := exec.Command(name, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env.With("PWD="+c.Dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, out, out
	began := time.Now()
	err = cmd.Run()
	took := time.Since(began)
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		b.Must(err)
	}
	output, err = os.ReadFile(out.Name())
	b.Must(err)
	return newSample(cmd, took), cmd.ProcessState.ExitCode(), output
}

// newSample returns the measurements of an exited process.
func newSample(cmd *exec.Cmd, took time.Duration) sample {
	return sample{
		ms: millis(took), cpu: millis(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()),
		kib: testkit.PeakMemory(cmd.ProcessState),
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// version measures the unit v.
func (b *bench) version() float64 {
	return b.time(testkit.Call{Dir: b.work, Env: b.env, Name: "git", Args: []string{"--version"}}).ms
}

// slim releases the memory used for generating: the peak of a process starts at the size of its
// parent.
func (b *bench) slim() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600) // Linux only
}
