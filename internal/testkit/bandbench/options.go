package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

type options struct {
	bin, cache string
	rows       *regexp.Regexp
	without    []string
	runs       int
	files      int
	megabytes  int
	snapshots  int
	json       bool
}

func parse(args []string, usage io.Writer) (options, error) {
	var o options
	var rows, without string
	f := flag.NewFlagSet("bandbench", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&o.bin, "bin", "bin/agentfs", "the program to measure")
	f.StringVar(&o.cache, "cache", filepath.Join(os.TempDir(), "entire-bandbench"), "folder for the tree and for what a run works on")
	f.StringVar(&rows, "rows", "", "measure only rows that match this regular expression")
	f.StringVar(&without, "without", "", "tools to leave out, separated by commas: restic, borg, cp -a, cp -al")
	f.IntVar(&o.runs, "n", 5, "number of measurements of each cell")
	f.IntVar(&o.files, "files", 70000, "files in the tree")                                        //nolint:mnd // the default
	f.IntVar(&o.megabytes, "mb", 600, "size of the tree in MB")                                    //nolint:mnd // the default
	f.IntVar(&o.snapshots, "snapshots", 0, "also take so many snapshots of a small tree in a row") // 10,000 take minutes
	f.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.runs < 1 || o.files < leastFiles || o.megabytes < 1 || f.NArg() > 0 {
		return o, fmt.Errorf("-n and -mb must be positive, -files at least %d, and there are no arguments", leastFiles)
	}
	o.without = strings.Split(without, ",")
	var err error
	if o.rows, err = regexp.Compile(rows); err != nil {
		return o, fmt.Errorf("-rows: %w", err)
	}
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return o, fmt.Errorf("-bin: %w", err)
	}
	if _, err = os.Stat(o.bin); err != nil {
		return o, fmt.Errorf("-bin: %w", err)
	}
	if o.cache, err = filepath.Abs(o.cache); err != nil {
		return o, fmt.Errorf("-cache: %w", err)
	}
	return o, nil
}
