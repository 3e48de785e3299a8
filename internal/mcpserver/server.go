package mcpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
	"github.com/seed-3aff656d/entire/internal/recall/contextstore"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

const (
	// callTime bounds a call, and graceTime how long a server whose client is gone waits
	// for those that run.
	callTime  = 30 * time.Second
	graceTime = time.Second
	// watchTime is how often the client is searched for.
	watchTime = time.Second
)

// Server serves one client.
type Server struct {
	// Open opens the repository of a place if recording is on there. The text
	// of its error is shown to the agent.
	Open func(ctx context.Context, at Place) (*Project, error)
	// Configure changes the user's settings, if there is something to change, and
	// returns those in force in a folder.
	Configure func(dir string, changes []settings.Change) (settings.Settings, error)
	// Dir is the folder that the client works in, Session the session that it was
	// in when it started this server, empty if unknown.
	Dir, Session string
	// Parent is the process that started this one.
	Parent func() int
	// Above are the processes that this one runs in, the nearest first: one of
	// them is the agent's.
	Above func() []session.Process
	// Tokens is how much the client accepts as one result, 0 for its default.
	Tokens  int
	Version string
	Now     func() time.Time

	asking asking
}

// Place is where a call belongs: a folder, and a session if it is known.
type Place struct{ Dir, SessionID string }

// Project is a repository, opened for one call.
type Project struct {
	// Root is the worktree's.
	Root     string
	Work     Work
	Store    Store
	Sessions Sessions
	Settings settings.Recall
	// History opens the index of turns, filled with what is new.
	History func(ctx context.Context) (*index.Reader, error)
	// Blame finds who wrote lines, in their order; Why what led to some. A path outside of the
	// worktree is an error.
	Blame func(ctx context.Context, lines Lines) ([]Run, error)
	Why   func(ctx context.Context, q Question) (Reason, error)
	// CheckTranscript refuses a path that can't be a transcript of the session's.
	CheckTranscript func(sessionID, path string) error
	Log             *slog.Logger
	Close           func() error
}

// Work is what a strategy.Recorder does.
type Work interface { //nolint:interfacebloat // one method for each tool
	SaveContext(ctx context.Context, want savedcontext.Saving) (recall.Checkpoint, error)
	Recall(ctx context.Context, id string, kind brief.Kind) (savedcontext.Recalled, error)
	Sections(ctx context.Context, id string, names []string, limit int) ([]savedcontext.Section, error)
	BeforeClear(ctx context.Context, c savedcontext.Clearing) (savedcontext.Unsaved, error)
	AnswerClear(ctx context.Context, c savedcontext.Clearing, answer savedcontext.ClearAnswer) error
	AfterClear(ctx context.Context, c savedcontext.Clearing) (savedcontext.Recalled, bool, error)
}

// Store is what a recall.Store does.
type Store interface {
	Find(ctx context.Context, prefix string) (string, error)
	Get(ctx context.Context, id string) (recall.Checkpoint, error)
	Contents(ctx context.Context, c *recall.Checkpoint, paths ...string) error
	List(ctx context.Context, f contextstore.Filter) ([]contextstore.Entry, error)
}

// Sessions are the sessions of a repository that have not ended for good.
type Sessions interface {
	Pending() ([]*session.State, []error)
}

// instructions describe the server to the model.
const instructions = `Context checkpoints: the state of the work in this repository (task, next steps, decisions, changed files), ` +
	`kept in git so that it survives /clear, compaction and the end of a session. ` +
	`Save one before the context is cleared or when the user asks to keep the state; ` +
	`list, search and resume them to learn what earlier sessions were doing. ` +
	`history_search and history_log: what was asked, done and changed in any turn of any session here. ` +
	`history_blame and history_why: who wrote the lines of a file, and what led to them.`

// Run serves the client at the other end of the streams until it closes its
// end, or is gone, or ctx ends; none of these is an error.
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
		select { // a call that doesn't heed its context must not keep the process
		case err = <-ended:
		case <-grace.C:
		}
	}
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// watch calls gone when the process that started the server is gone, though another
// process may still have the other end of its standard input.
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
