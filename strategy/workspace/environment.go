package workspace

import (
	"context"
	"io"
	"time"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// Environment provides access to the process, the user and the system.
type Environment struct {
	Getenv  func(string) string
	Now     func() time.Time
	Random  io.Reader
	Home    string
	Version string
	// Terminal reports whether this process has a terminal that a person can type at.
	Terminal func() bool
	// Say shows a line to the user.
	Say func(line string)
	// Confirm asks the user a question; the default is yes.
	Confirm func(ctx context.Context, question string) bool
	// Detach starts this program with these arguments as a process of its own.
	Detach func(args ...string) error
	// Caller returns the git process that runs this hook.
	Caller func() (proc.Info, bool)
	// Alive reports whether the process with this start time still runs.
	Alive func(pid int, start uint64) bool
	// Ask sends a prompt to a model, at the user's cost, and returns its reply.
	Ask func(ctx context.Context, prompt string) (string, error)
	// Registry is the catalog of snapshots, nil if there is none.
	Registry *registry.Registry
}
