package workspace

import (
	"context"
	"io"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// Environment is what the recorder knows of the world outside the repository.
type Environment struct {
	Getenv  func(string) string
	Now     func() time.Time
	Random  io.Reader
	Home    string
	Version string
	// Terminal says whether a person sits at a terminal of this process.
	Terminal func() bool
	// Say shows a line to the person who waits.
	Say func(line string)
	// Confirm asks a person, with yes as the answer of silence.
	Confirm func(ctx context.Context, question string) bool
	// Detach starts this program again, with these arguments, to go on alone.
	Detach func(args ...string) error
	// Caller is the git process that runs this hook.
	Caller func() (proc.Info, bool)
	// Alive says whether a process still runs.
	Alive func(pid int, start uint64) bool
	// Ask puts a prompt to a model, at the user's cost, and answers what it says.
	Ask func(ctx context.Context, prompt string) (string, error)
	// Registry is the catalog of snapshots, nil where none is kept.
	Registry *bands.Registry
}
