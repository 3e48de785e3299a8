// Manpages writes the manual pages of entire and agentfs into a folder: `make man`.
package main

import (
	"fmt"
	"os"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// version and date are set by the linker.
var version, date = "dev", "1970-01-01" //nolint:gochecknoglobals // the linker can set nothing else

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manpages <folder>")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	if err := disk.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return cli.WriteManPages(app.Env{Getenv: func(string) string { return "" }, Version: version}, date, dir)
}
