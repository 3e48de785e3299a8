// Command bandbench measures snapshots and restores of a large tree, as whole processes, and
// compares them with restic, borg and cp. Tools that aren't installed are left out. A budget is a
// ratio within one run.
//
// The generated tree is kept in the folder -cache; the working files of a run are removed. Run it
// on an idle machine.
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
		fmt.Fprintln(os.Stderr, "bandbench:", err)
		os.Exit(2) //nolint:mnd // wrong usage
	}
	if err := measure(o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bandbench:", err)
		os.Exit(1)
	}
}
