// Command budget measures the built program, as whole processes on generated repositories, and
// compares the cost of each hook with its budget. A budget is a ratio to git in the same run (v:
// git --version, s: git status in the same, clean repository) or to the same hook with little
// history. Both sides are measured in turn, so that a ratio holds on a noisy machine.
//
// docs/performance.md explains the table. Generated repositories and transcripts are kept in the
// folder -cache; the working files of a run are removed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

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
