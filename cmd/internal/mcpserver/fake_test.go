package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-3aff656d/entire/cmd/internal/mcpserver"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// fake is a repository with preset results that records the calls.
type fake struct {
	mu    sync.Mutex
	asked []string

	checkpoints map[string]recall.Checkpoint
	entries     []contextstore.Entry
	states      []*session.State
	settings    settings.Recall
	unsaved     savedcontext.Unsaved
	next        savedcontext.Recalled // for the next session
	wanted      bool
	err         error // of every call
	panics      bool
	history     index.Files
	facts       []savedcontext.FactNow
	runs        []mcpserver.Run
	reason      mcpserver.Reason
	log         strings.Builder
	waited      time.Duration
}

// wait advances the clock.
func (f *fake) wait(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waited += d
}

func (f *fake) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return now().Add(f.waited)
}

func (f *fake) note(format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
	if f.panics {
		panic("bang")
	}
	return f.err
}

func (f *fake) notes() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.asked, "\n")
}

func (f *fake) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.Write(p)
}

func (f *fake) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.String()
}

func (f *fake) Pending() ([]*session.State, []error) { return f.states, nil }

func (f *fake) SaveContext(_ context.Context, want savedcontext.Saving) (recall.Checkpoint, error) {
	err := f.note("save %q by %s for %q %q %q %q", want.SessionID, want.Cause, want.Summary, want.Description, want.Tags, want.Mode)
	return f.checkpoints["3f9a1c-77b0e2"], err
}

func (f *fake) Recall(_ context.Context, id string, kind brief.Kind) (savedcontext.Recalled, error) {
	return f.next, f.note("recall %q %d", id, kind)
}

func (f *fake) BeforeClear(_ context.Context, c savedcontext.Clearing) (savedcontext.Unsaved, error) {
	return f.unsaved, f.note("before %q %q", c.SessionID, c.PromptID)
}

func (f *fake) AnswerClear(_ context.Context, c savedcontext.Clearing, answer savedcontext.ClearAnswer) error {
	return f.note("answer %q %d", c.SessionID, answer)
}

func (f *fake) AfterClear(_ context.Context, c savedcontext.Clearing) (savedcontext.Recalled, bool, error) {
	return f.next, f.wanted, f.note("after %q %v", c.SessionID, c.Above)
}

func (f *fake) AboutFile(_ context.Context, p string) ([]savedcontext.FactNow, error) {
	return f.facts, f.note("about %q", p)
}

func (f *fake) SearchFacts(_ context.Context, query string, limit int) ([]savedcontext.FactNow, error) {
	return f.facts[:min(len(f.facts), limit)], f.note("facts %q %d", query, limit)
}

func (f *fake) Find(_ context.Context, prefix string) (string, error) {
	for id := range f.checkpoints {
		if strings.HasPrefix(id, prefix) {
			return id, nil
		}
	}
	return "", fmt.Errorf("%s: %w", prefix, recall.ErrNotFound)
}

func (f *fake) Get(_ context.Context, id string) (recall.Checkpoint, error) {
	c := f.checkpoints[id]
	bare := make(map[string]recall.File, len(c.State.Files))
	for path, file := range c.State.Files {
		file.Content = ""
		bare[path] = file
	}
	c.State.Files = bare
	return c, f.err
}

func (f *fake) ReadContents(_ context.Context, c *recall.Checkpoint, _ ...string) error {
	c.State.Files = f.checkpoints[c.ID].State.Files
	return nil
}

func (f *fake) List(_ context.Context, filter contextstore.Filter) ([]contextstore.Entry, error) {
	err := f.note("list %q %q %d", filter.Worktree, filter.Query, filter.Limit)
	return f.entries[:min(len(f.entries), filter.Limit)], err
}

// server returns a server of the fake.
func (f *fake) server() *mcpserver.Server {
	return &mcpserver.Server{
		Open: func(_ context.Context, at mcpserver.Place) (*mcpserver.Project, error) {
			if at.Dir == "/elsewhere" {
				return nil, errors.New("/elsewhere: not a git repository")
			}
			return &mcpserver.Project{
				Missing: func(context.Context) string { return "" },
				Root:    at.Dir, Work: f, Store: f, Sessions: f, Settings: f.settings,
				History: func(ctx context.Context) (*index.Reader, error) { return index.Open(ctx, f.history) },
				Blame: func(_ context.Context, of mcpserver.Lines) ([]mcpserver.Run, error) {
					return f.runs, f.note("blame %+v", of)
				},
				Why: func(_ context.Context, q mcpserver.Question) (mcpserver.Reason, error) {
					return f.reason, f.note("why %+v", q)
				},
				Log:   slog.New(slog.NewJSONHandler(f, nil)),
				Close: func() error { return nil },
			}, nil
		},
		Configure: func(dir string, changes []settings.Change) (settings.Settings, error) {
			err := f.note("configure %s %v", dir, changes)
			return settings.Settings{Recall: f.settings}, err
		},
		Dir: "/repo", Session: "of-environment", Parent: func() int { return 4711 },
		Above:   func() []session.Process { return []session.Process{{PID: 4711, Start: 1}} },
		Version: "test", Now: f.clock,
	}
}

// client is a client with a version of the protocol. The user answers questions with answer; if it
// is nil, the client can't ask.
type client struct {
	version string
	answer  func(question string) string // accept, decline, cancel
}

func (c client) connect(t *testing.T, s *mcpserver.Server) *mcp.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(t.Context(), fromClient, toClient)
		_ = toClient.Close()
	}()
	opts := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if c.answer != nil {
		opts.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: c.answer(req.Params.Message)}, nil
		}
	}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).
		Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: c.version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cs.Close()
		_ = toServer.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return cs
}

// call calls a tool and returns its text.
func call(t *testing.T, cs *mcp.ClientSession, tool string, args any) (string, *mcp.CallToolResult) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	texts := make([]string, 0, len(res.Content))
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n"), res
}

// versions returns the first and the last version of the protocol that clients use.
func versions() []string { return []string{"2025-06-18", "2026-07-28"} }

func (f *fake) Sections(_ context.Context, id string, names []string, limit int) ([]savedcontext.Section, error) {
	list := make([]savedcontext.Section, 0, len(names))
	for _, name := range names {
		list = append(list, savedcontext.Section{Name: name, Text: fmt.Sprintf("%s of %s within %d", name, id, limit)})
	}
	return list, nil
}
