package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/cli/install"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/ui"
	"github.com/seed-3aff656d/entire/session"
)

// records reports whether sessions of the worktree at root are recorded: it has
// the agent's hooks, or is set up where the user's own hooks act, or has a session that hasn't ended.
func (u *uninstalling) records(root string) bool {
	for _, s := range install.AllSettings(u.repo, root) {
		if n, _, err := s.Check(); err == nil && n > 0 {
			return true
		}
	}
	if _, err := os.Lstat(install.EntireDir(root)); err == nil && len(u.user) > 0 {
		return true
	}
	return slices.ContainsFunc(u.states, func(s *session.State) bool {
		return s.WorktreePath == root && (s.Phase == session.Active || len(s.FilesTouched) > 0)
	})
}

// idle refuses while an agent is at work in what goes.
func (u *uninstalling) idle() error {
	rec := u.Recorder(u.repo, u.Settings(u.repo), slog.New(slog.DiscardHandler))
	var ids []string
	for _, s := range u.states {
		if rec.IsActive(s) && (len(u.others) == 0 || rec.OwnsSession(s)) {
			ids = append(ids, s.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return app.WithHint(fmt.Errorf("an agent is at work: %s", format.Sessions(ids)), "end it first, or use --force")
}

// removeHere takes away what is this worktree's alone.
func (u *uninstalling) removeHere(ctx context.Context) error {
	if err := u.removeAgentHooks(u.repo.Root); err != nil {
		return err
	}
	u.done("Removed agent hooks")
	if err := install.RemoveServer(ctx, u.App, u.repo, install.Removal{From: []string{u.repo.Root}, Roots: u.roots}); err != nil {
		return err
	}
	// The states and shadow branches of this worktree.
	rec := u.Recorder(u.repo, u.Settings(u.repo), slog.New(slog.DiscardHandler))
	hash := checkpoint.WorktreeHash(u.repo.WorktreeID)
	u.held = nil
	u.shadows = slices.DeleteFunc(u.shadows, func(ref gitref.Ref) bool { return !strings.HasSuffix(ref.Name, "-"+hash) })
	sessions := 0
	err := rec.WithLock(ctx, func() error {
		var failed []error
		for _, s := range u.states {
			if rec.OwnsSession(s) {
				sessions++
				failed = append(failed, rec.Sessions.Remove(s.ID))
			}
		}
		return errors.Join(append(failed, u.removeShadows(ctx))...)
	})
	if err != nil {
		return err
	}
	u.doneWith(sessions, "Removed the state of "+ui.Plural(sessions, "session"))
	u.doneWith(len(u.shadows), "Removed "+count(len(u.shadows), "shadow branch", "shadow branches"))
	// The worktree gets the .entire that it had.
	if i := slices.IndexFunc(u.prints, func(f *install.Footprint) bool { return f.Worktree == u.repo.Root }); i >= 0 {
		err = u.prints[i].TakeBackHere()
	} else {
		err = install.RemoveAll(install.EntireDir(u.repo.Root))
	}
	if err != nil {
		return err
	}
	u.done("Removed .entire")
	u.Streams.Printf("\nEntire is uninstalled from this worktree, where nothing is recorded any more.\n" +
		"Git hooks and snapshots stay, as other worktrees record:\n")
	for _, root := range u.others {
		u.Streams.Printf("  %s\n", root)
	}
	return nil
}
