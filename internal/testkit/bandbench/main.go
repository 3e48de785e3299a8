// Command bandbench measures snapshots and restores of a large tree, as whole
// processes, beside what others take for the same: restic, borg, cp. Tools that
// aren't installed are left out. A budget is a ratio within one run.
//
// The generated tree is kept in the folder -cache; what a run works on is
// removed. Run it on a machine that does nothing else.
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
