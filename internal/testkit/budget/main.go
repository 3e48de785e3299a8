// Command budget measures the built program, as whole processes on generated
// repositories, and prints what each hook costs against its budget. A budget is
// a ratio to git in the same run (v: git --version, s: git status in the same,
// clean repository) or to the same hook with little history. Both sides are
// measured in turn, so that a ratio holds on a noisy machine.
//
// docs/performance.md explains the table. Generated repositories and
// transcripts are kept in the folder -cache; what a run works on is removed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
)

type options struct {
	bin, cache string
	rows       *regexp.Regexp
	runs       int
	json       bool
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(2) //nolint:mnd // wrong usage
	}
	if err := measure(o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(1)
	}
}

func parse(args []string, usage io.Writer) (options, error) {
	var o options
	var rows string
	f := flag.NewFlagSet("budget", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&o.bin, "bin", "bin/entire", "the program to measure")
	f.StringVar(&o.cache, "cache", filepath.Join(os.TempDir(), "entire-budget"), "folder for what is generated once")
	f.StringVar(&rows, "rows", "", "measure only rows that match this regular expression")
	f.IntVar(&o.runs, "n", 15, "number of measurements of a row") //nolint:mnd // the default
	f.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.runs < 1 || f.NArg() > 0 {
		return o, errors.New("-n must be positive, and there are no arguments")
	}
	var err error
	if o.rows, err = regexp.Compile(rows); err != nil {
		return o, fmt.Errorf("-rows: %w", err)
	}
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return o, fmt.Errorf("-bin: %w", err)
	}
	if o.cache, err = filepath.Abs(o.cache); err != nil {
		return o, fmt.Errorf("-cache: %w", err)
	}
	return o, nil
}

// measure runs every scenario that has a wanted row and prints the table.
func measure(o options, out, progress io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{options: o, ctx: ctx, progress: progress}
	done := make(chan struct{})
	go func() { // of its own, so that Fatalf can end it and what is deferred still runs
		defer close(done)
		b.all()
	}()
	<-done
	if b.failed != nil {
		return b.failed
	}
	if o.json {
		return b.printJSON(out)
	}
	b.printTable(out)
	return nil
}

// Helper is part of testkit.TB.
func (b *bench) Helper() {}

// Logf reports progress.
func (b *bench) Logf(format string, args ...any) {
	fmt.Fprintf(b.progress, format+"\n", args...)
}

// Fatalf ends the measurement.
func (b *bench) Fatalf(format string, args ...any) {
	if b.failed == nil {
		b.failed = fmt.Errorf(format, args...)
	}
	runtime.Goexit()
}

// must ends the measurement if something failed.
func (b *bench) must(err error) {
	if err != nil {
		b.Fatalf("%w", err)
	}
}
