package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/testkit/schemas"
)

// faultsVariable names the folder in which commands of scripts note that their output isn't what its
// schema describes.
const faultsVariable = "ENTIRE_TEST_OUTPUT_FAULTS"

// checked returns a program that compares its JSON with docs/formats/json. If they differ it notes
// that, and its exit code is 86. prefix comes before the arguments.
func checked(run func(context.Context, []string, app.Env) int, prefix ...string) func(context.Context, []string, app.Env) int {
	return func(ctx context.Context, args []string, env app.Env) int {
		if !schemas.HasSchema(args) {
			return run(ctx, args, env)
		}
		out := &recorder{to: env.Streams.Out}
		env.Streams.Out = out
		code := run(ctx, args, env)
		args = append(prefix, args...)
		if out.failed || ctx.Err() != nil {
			return code
		}
		err := schemas.Check(schemas.Output{Args: args, Stdout: out.written.Bytes(), Code: code})
		if err == nil {
			return code
		}
		const mismatch = 86
		text := fmt.Sprintf("%q, exit code %d: %v\n%s", args, code, err, out.written.Bytes())
		_, _ = io.WriteString(env.Streams.Err, text)
		if dir := env.Getenv(faultsVariable); dir != "" {
			if f, err := os.CreateTemp(dir, "fault"); err == nil {
				_, _ = f.WriteString(text + "\nin " + env.Dir + "\n")
				_ = f.Close()
			}
		}
		return mismatch
	}
}

// recorder passes on what is written, and keeps it.
type recorder struct {
	to      io.Writer
	written bytes.Buffer
	failed  bool // it could not be passed on
}

func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.to.Write(p)
	r.failed = r.failed || err != nil
	r.written.Write(p[:n])
	return n, err
}

// reportFaults fails the test for each fault that a command has noted.
func reportFaults(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Error(strings.ToValidUTF8(string(text), "?"))
	}
}
