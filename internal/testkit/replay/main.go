// Command replay plays the recorded session of testdata/session in a repository with installed
// hooks.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

func main() {
	recording := flag.String("recording", filepath.Join("testdata", "session"), "`folder` of the recording")
	project := flag.String("project", "", "`folder` of the repository to play it in")
	flag.Parse()
	if *project == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	testkit.Recording{Dir: *recording, Project: *project, Env: os.Environ(), Out: os.Stdout}.Replay(stop{})
}

// stop is a TB that exits the program when a test would fail.
type stop struct{}

func (stop) Helper() {}

func (stop) Logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

func (stop) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "replay: "+format+"\n", args...)
	os.Exit(1)
}
