package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// inProcess runs the program as main does, in the process of the test: a process takes longer to
// start than most hooks take to run. Calls that start children of the program, or find another
// program on their PATH, are left to a process of their own, as are all with ENTIRE_TEST_PROGRAMS.
// The hooks of git always are processes.
func inProcess(c testkit.Call) (testkit.Result, bool) {
	own := testkit.Call{Name: "entire", Env: testkit.Env(os.Environ())}
	if c.Name != "entire" || c.Env.Get("ENTIRE_NO_DETACH") != "1" || c.LookPath() != own.LookPath() || os.Getenv("ENTIRE_TEST_PROGRAMS") != "" {
		return testkit.Result{}, false
	}
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return testkit.Result{}, false
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return testkit.Result{}, false
	}
	defer func() { _ = null.Close() }()
	env := c.Env.With("PWD=" + c.Dir)
	var stdout, stderr bytes.Buffer
	streams := ui.Detect(null, null, null, env.Get)
	streams.In, streams.Out, streams.Err = strings.NewReader(c.Stdin), &stdout, &stderr
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	code := checked(cli.Main)(ctx, c.Args, app.Env{
		Dir: c.Dir, Home: env.Get("HOME"), Environ: env.Effective(), Getenv: env.Get,
		Streams: streams, Now: time.Now, Rand: rand.Reader, Version: version,
	})
	return testkit.Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: code}, true
}
