package mcpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

const (
	// callTime is the maximum duration of a call. graceTime is the time that a server waits
	// for running calls after its client has exited.
	callTime  = 30 * time.Second
	graceTime = time.Second
	// watchTime is the interval of checks for the client's process.
	watchTime = time.Second
)

// Server serves one client.
type Server struct {
	// Open opens the repository of a place if recording is enabled there. The text of its
	// error is shown to the agent.
	Open func(ctx context.Context, at Place) (*Project, error)
	// Configure applies changes, if any, to the user's settings, and returns the effective
	// settings of a folder.
	Configure func(dir string, changes []settings.Change) (settings.Settings, error)
	// Dir is the client's working directory, Session its session when it started this
	// server, empty if unknown.
	Dir, Session string
	// Parent is the process that started this one.
	Parent func() int
	// Above returns the ancestors of this process, the nearest first. One of them is the
	// agent.
	Above func() []session.Process
	// Tokens is the maximum size of one result that the client accepts, 0 for its default.
	Tokens  int
	Version string
	Now     func() time.Time

	asking asking
}

// Place is the origin of a call: a folder, and a session if known.
type Place struct{ Dir, SessionID string }

// Project is a repository, opened for one call.
type Project struct {
	// Root is the root of the worktree.
	Root     string
	Work     Work
	Store    Store
	Sessions Sessions
	Settings settings.Recall
	// History updates and opens the index of turns.
	History func(ctx context.Context) (*index.Reader, error)
	// Blame returns the writers of lines, in their order. Why returns the origin of lines
	// or of a commit. A path outside of the worktree is an error.
	Blame func(ctx context.Context, lines Lines) ([]Run, error)
	Why   func(ctx context.Context, q Question) (Reason, error)
	// Missing describes what this clone lacks, with the commands that fetch it; "" if nothing.
	Missing func(ctx context.Context) string
	Log     *slog.Logger
	Close   func() error
}

// Work is the part of package savedcontext that the tools use.
type Work interface { //nolint:interfacebloat // one method for each tool
	SaveContext(ctx context.Context, want savedcontext.Saving) (recall.Checkpoint, error)
	Recall(ctx context.Context, id string, kind brief.Kind) (savedcontext.Recalled, error)
	Sections(ctx context.Context, id string, names []string, limit int) ([]savedcontext.Section, error)
	BeforeClear(ctx context.Context, c savedcontext.Clearing) (savedcontext.Unsaved, error)
	AnswerClear(ctx context.Context, c savedcontext.Clearing, answer savedcontext.ClearAnswer) error
	AfterClear(ctx context.Context, c savedcontext.Clearing) (savedcontext.Recalled, bool, error)
	// AboutFile returns the facts about a file, by its path from the root of the worktree.
	AboutFile(ctx context.Context, p string) ([]savedcontext.FactNow, error)
	SearchFacts(ctx context.Context, query string, limit int) ([]savedcontext.FactNow, error)
}

// Store is implemented by contextstore.Store.
type Store interface {
	Find(ctx context.Context, prefix string) (string, error)
	Get(ctx context.Context, id string) (recall.Checkpoint, error)
	ReadContents(ctx context.Context, c *recall.Checkpoint, paths ...string) error
	List(ctx context.Context, f contextstore.Filter) ([]contextstore.Entry, error)
}

// Sessions is implemented by session.Store.
type Sessions interface {
	Pending() ([]*session.State, []error)
}

// instructions describe the server to the model.
const instructions = `Context checkpoints: the state of the work in this repository (task, next steps, decisions, changed files), ` +
	`kept in git so that it survives /clear, compaction and the end of a session. ` +
	`Save one before the context is cleared or when the user asks to keep the state; ` +
	`list, search and resume them to learn what earlier sessions were doing. ` +
	`memory_for_file and memory_search: what earlier sessions decided, tried and gave up, and were told. ` +
	`history_search and history_log: what was asked, done and changed in any turn of any session here. ` +
	`history_blame and history_why: who wrote the lines of a file, and what led to them.`

// Run serves the client at the other end of the streams until it closes its end, its
// process exits, or ctx ends. None of these is an error.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go watch(ctx, s.Parent, cancel)
	ended := make(chan error, 1)
	go func() { ended <- s.build().Run(ctx, &stdio{in: in, out: out}) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		grace := time.NewTimer(graceTime)
		defer grace.Stop()
		select { // a call that ignores its context must not keep the process alive
		case err = <-ended:
		case <-grace.C:
		}
	}
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// watch calls gone when the process that started the server has exited, even if another
// process still holds the other end of standard input.
func watch(ctx context.Context, current func() int, gone context.CancelFunc) {
	parent := current()
	tick := time.NewTicker(watchTime)
	defer tick.Stop()
	for parent > 1 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if current() != parent {
			gone()
			return
		}
	}
}
