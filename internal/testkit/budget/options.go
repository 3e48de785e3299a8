package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

type options struct {
	bin, cache string
	samples    string
	rows       *regexp.Regexp
	runs       int
	json       bool
	talk       int
}

func parse(args []string, usage io.Writer) (options, error) {
	var o options
	var rows string
	f := flag.NewFlagSet("budget", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&o.bin, "bin", "bin/entire", "the program to measure")
	f.StringVar(&o.cache, "cache", filepath.Join(os.TempDir(), "entire-budget"), "folder for what is generated once")
	f.StringVar(&o.samples, "samples", "", "folder of transcripts of Claude Code, whose lines fill the files that are imported; without, generated ones")
	f.StringVar(&rows, "rows", "", "measure only rows that match this regular expression")
	f.IntVar(&o.runs, "n", 15, "number of measurements of a row")                                       //nolint:mnd // the default
	f.IntVar(&o.talk, "talk", 8000, "bytes of transcript that each checkpoint of the long record adds") //nolint:mnd // the default
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
