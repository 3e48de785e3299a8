package recall

import (
	"context"
	"io"
	"time"

	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/git"
)

// Store keeps context checkpoints of a repository: each a commit at
// refs/entire/context/<id>, and a row in the catalog that can be made again from
// it. Its methods may be called by many processes at once.
type Store struct {
	Repo *git.Repo
	// Catalog opens the catalog; its error is not the store's, which then works
	// from the refs.
	Catalog func(ctx context.Context) (*catalog.Catalog, error)
	By      func(ctx context.Context) (git.Signature, error)
	Now     func() time.Time
	Random  io.Reader
}

// Entry is what a list shows of a checkpoint: its row.
type Entry struct {
	ID        string    `json:"id"`
	Summary   string    `json:"summary"`
	CreatedAt time.Time `json:"created_at"`
	Status    Status    `json:"status"`
	Cause     Cause     `json:"cause"`
	Mode      Mode      `json:"mode"`
	// Worktree is the root of the worktree, Branch and Commit what was checked
	// out there.
	Worktree string `json:"worktree"`
	Branch   string `json:"branch,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Session  string `json:"session,omitempty"`
	Files    int    `json:"files"`
	Size     int64  `json:"size_bytes"`
	// Text is what a search looks through.
	Text string `json:"-"`
}

// Filter selects entries; an empty field selects all.
type Filter struct {
	Worktree, Branch, Session string
	Status                    Status
	// Query is words that all have to be in the summary, task, steps, decisions,
	// files, tags, in any case.
	Query string
	Limit int
}

// Put stores a checkpoint, whose id is empty for a new one or that of one that
// is replaced, and answers its id. The objects of the contents are there already.
func (s Store) Put(ctx context.Context, c Checkpoint) (string, error) { panic("unfinished") }

// Find answers the one id that begins with prefix: ErrNotFound, ErrAmbiguous.
func (s Store) Find(ctx context.Context, prefix string) (string, error) { panic("unfinished") }

// Get answers the checkpoint without the contents of its files, which Contents
// fills in.
func (s Store) Get(ctx context.Context, id string) (Checkpoint, error) { panic("unfinished") }

// Contents reads the contents of the checkpoint's files, all if paths is empty.
func (s Store) Contents(ctx context.Context, c *Checkpoint, paths ...string) error {
	panic("unfinished")
}

// List answers entries, the newest first.
func (s Store) List(ctx context.Context, f Filter) ([]Entry, error) { panic("unfinished") }

// SetStatus changes what became of a checkpoint.
func (s Store) SetStatus(ctx context.Context, id string, to Status) error { panic("unfinished") }

// Discard removes checkpoints. Those that are gone already are no error.
func (s Store) Discard(ctx context.Context, ids ...string) error { panic("unfinished") }

// Prune removes automatic checkpoints beyond the newest keep of each worktree, and those
// older than the age, and answers what it removed. Requested ones stay.
func (s Store) Prune(ctx context.Context, keep int, age time.Duration) ([]Entry, error) {
	panic("unfinished")
}
