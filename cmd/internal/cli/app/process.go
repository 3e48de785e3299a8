package app

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

const (
	gcPercent   = 400
	memoryLimit = 48 << 20

	longRun         = time.Second
	longGCPercent   = 30
	longMemoryLimit = 112 << 20
)

// Run calls the main function of a program with the arguments and the environment of the process,
// and returns its exit code. The context ends at an interrupt. Only packages main call it.
func Run(version string, main func(context.Context, []string, Env) int) int {
	// A hook runs for milliseconds and needs little memory: collect garbage late. A longer run may
	// need nearly the limit and then collects continuously, or more than the limit and then
	// collects too late.
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	defer time.AfterFunc(longRun, func() {
		debug.SetGCPercent(longGCPercent)
		debug.SetMemoryLimit(longMemoryLimit)
	}).Stop()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // removed; commands that need it report the error
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return main(ctx, os.Args[1:], Env{
		Dir: dir, Home: home,
		Environ: os.Environ(), Getenv: os.Getenv,
		Streams: ui.Detect(os.Stdin, os.Stdout, os.Stderr, os.Getenv),
		Now:     time.Now, Rand: rand.Reader,
		Version: version,
	})
}
