// Command agentfs takes snapshots of whole working trees and restores them.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

var version = "dev" // set by the linker

func main() {
	os.Exit(run())
}

func run() int {
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
	return cli.MainFS(ctx, os.Args[1:], app.Env{
		Dir: dir, Home: home,
		Environ: os.Environ(), Getenv: os.Getenv,
		Streams: ui.Detect(os.Stdin, os.Stdout, os.Stderr, os.Getenv),
		Now:     time.Now, Rand: rand.Reader,
		Version: version,
	})
}
