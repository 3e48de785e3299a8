// Package strategy defines the order of the steps at each event of an agent and of git, and
// gives hooks and commands access to the services of the packages below it. See
// docs/architecture.md.
package strategy

import (
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/commits"
	"github.com/seed-3aff656d/entire/strategy/conversation"
	"github.com/seed-3aff656d/entire/strategy/fork"
	"github.com/seed-3aff656d/entire/strategy/indexing"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/lifecycle"
	"github.com/seed-3aff656d/entire/strategy/points"
	"github.com/seed-3aff656d/entire/strategy/reporting"
	"github.com/seed-3aff656d/entire/strategy/resume"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/summaries"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Recorder records the sessions and commits of a worktree. AgentEvents, GitHooks and
// Background define the order of the steps, which the packages below implement.
type Recorder struct {
	*workspace.Workspace
}

// New returns the recorder of a worktree.
func New(w *workspace.Workspace) *Recorder { return &Recorder{w} }

// At returns the recorder of the worktree at root, whose Repo the caller closes.
func (r *Recorder) At(root string) (*Recorder, error) {
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: r.Env.Getenv})
	if err != nil {
		return nil, err
	}
	if repo.CommonDir != r.Repo.CommonDir || repo.Root == "" {
		return nil, errors.Join(fmt.Errorf("%s: %w", root, commits.ErrElsewhere), repo.Close())
	}
	there := r.Workspace.At(repo)
	return New(there), nil
}

// Authorship returns the services of package authorship.
func (r *Recorder) Authorship() *authorship.Services { return authorship.New(r.Workspace) }

// Commits returns the services of package commits.
func (r *Recorder) Commits() *commits.Services { return commits.New(r.Workspace) }

// Conversation returns the services of package conversation.
func (r *Recorder) Conversation() *conversation.Services { return conversation.New(r.Workspace) }

// Fork returns the services of package fork.
func (r *Recorder) Fork() *fork.Services { return fork.New(r.Workspace) }

// Indexing returns the services of package indexing.
func (r *Recorder) Indexing() *indexing.Services { return indexing.New(r.Workspace) }

// Journal returns the services of package journal.
func (r *Recorder) Journal() *journal.Services { return journal.New(r.Workspace) }

// Lifecycle returns the services of package lifecycle.
func (r *Recorder) Lifecycle() *lifecycle.Services { return lifecycle.New(r.Workspace) }

// Points returns the services of package points.
func (r *Recorder) Points() *points.Services { return points.New(r.Workspace) }

// Reporting returns the services of package reporting.
func (r *Recorder) Reporting() *reporting.Services { return reporting.New(r.Workspace) }

// Resume returns the services of package resume.
func (r *Recorder) Resume() *resume.Services { return resume.New(r.Workspace) }

// Rewind returns the services of package rewind.
func (r *Recorder) Rewind() *rewind.Services { return rewind.New(r.Workspace) }

// SavedContexts returns the services of package savedcontext.
func (r *Recorder) SavedContexts() *savedcontext.Services { return savedcontext.New(r.Workspace) }

// Sharing returns the services of package sharing.
func (r *Recorder) Sharing() *sharing.Services { return sharing.New(r.Workspace) }

// Snapshots returns the services of package snapshots.
func (r *Recorder) Snapshots() *snapshots.Services { return snapshots.New(r.Workspace) }

// Summaries returns the services of package summaries.
func (r *Recorder) Summaries() *summaries.Services { return summaries.New(r.Workspace) }

// local returns the services of package workspace.
func (r *Recorder) local() *workspace.Services { return workspace.New(r.Workspace) }
