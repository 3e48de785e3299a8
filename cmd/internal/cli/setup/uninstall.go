package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// uninstalling is one run of disable --uninstall. While other worktrees record, the parts that they
// share with this one stay.
type uninstalling struct {
	*app.App

	repo     *git.Repo
	roots    []string             // of all worktrees
	others   []string             // roots of other worktrees that record
	user     []agenthook.Settings // the user's own, which stay
	level    settings.Level       // what enables recording here
	prints   []*Footprint
	shadows  []git.Ref
	held     []git.Ref // left by rewinds, repairs and pushes
	states   []*session.State
	sessions int
	// snapshots is the number of snapshots in the store, which is removed, too.
	snapshots int

	step, steps int64 // completed steps, and all steps
	tick        func(done, total int64)
}

func runUninstall(ctx context.Context, a *app.App, opts disableOptions, repo *git.Repo) error {
	u := &uninstalling{App: a, repo: repo, level: a.Settings(repo).Activation.Level}
	if err := u.find(ctx); err != nil {
		return err
	}
	if !opts.force { // refuse while an agent is at work
		w := u.Workspace(repo)
		var ids []string
		for _, s := range u.states {
			if w.IsActive(s) && (len(u.others) == 0 || w.OwnsSession(s)) {
				ids = append(ids, s.ID)
			}
		}
		if len(ids) > 0 {
			return app.WithHint(fmt.Errorf("an agent is working: %s", format.Sessions(ids)), "end it first, or use --force")
		}
	}
	q := ui.Question{Flag: "--force"}
	if len(u.others) > 0 {
		q.Title = "Remove Entire from this worktree?"
		q.Help = "Removes the agent's hooks, .entire and the state of sessions of this worktree, except for files that " + strings.Join(u.others, ", ") + " needs."
	} else {
		snapshots := ""
		if u.snapshots > 0 {
			snapshots = ", " + ui.Plural(u.snapshots, "snapshot") + " of the working tree"
		}
		q.Title = "Remove Entire from this repository?"
		q.Help = fmt.Sprintf("Removes hooks, settings, the state of %s, %s%s; checkpoints of commits are kept.",
			ui.Plural(u.sessions, "session"), ui.Plural(len(u.shadows), "shadow branch"), snapshots)
	}
	if !opts.force {
		answers, err := a.Prompter.Ask(ctx, q)
		switch {
		case err != nil:
			return err
		case answers[0] != ui.Yes:
			a.Streams.Printf("Nothing was removed.\n")
			return nil
		}
	}
	return a.Streams.Count("Uninstalling, step", func(tick func(done, total int64)) error {
		u.tick, u.steps = tick, 6 // the steps of remove
		if len(u.others) > 0 {
			u.steps = 4
			return u.removeHere(ctx)
		}
		return u.remove(ctx)
	})
}

// find collects the files, refs, states and snapshots that can be removed.
func (u *uninstalling) find(ctx context.Context) (err error) {
	u.roots = Worktrees(u.repo)
	if u.prints, err = Footprints(u.repo); err != nil {
		return err
	}
	for _, f := range u.prints {
		if !slices.Contains(u.roots, f.Worktree) {
			u.roots = append(u.roots, f.Worktree)
		}
	}
	u.user = UserHooks(u.App)
	states, failed := session.Open(u.repo.CommonDir).All()
	u.states, u.sessions = states, len(states)+len(failed)
	u.others = slices.DeleteFunc(slices.Clone(u.roots), func(root string) bool { return root == u.repo.Root || !u.records(root) })
	refs, err := git.ListRefs(ctx, u.repo, workspace.Refs(workspace.Own)...)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		switch {
		case checkpoint.IsShadow(ref.Name):
			u.shadows = append(u.shadows, ref)
		case strings.HasPrefix(ref.Name, checkpoint.CheckpointRefs), ref.Name == checkpoint.ImportedRef: // checkpoints stay
		case strings.HasPrefix(ref.Name, checkpoint.OwnRefs):
			u.held = append(u.held, ref)
		}
	}
	if store, err := bands.Open(registry.RepositoryDir(u.repo.CommonDir)); err == nil {
		versions, err := store.Versions()
		if err != nil {
			return err
		}
		u.snapshots = len(versions)
	}
	return nil
}

// removeHere removes the parts that belong to this worktree alone.
func (u *uninstalling) removeHere(ctx context.Context) error {
	if err := u.removeAgentHooks(u.repo.Root); err != nil {
		return err
	}
	u.done("Removed agent hooks")
	if err := RemoveServer(ctx, u.App, u.repo, Removal{From: []string{u.repo.Root}, Roots: u.roots}); err != nil {
		return err
	}
	// The states and shadow branches of this worktree.
	w := u.Workspace(u.repo)
	hash := checkpoint.WorktreeHash(u.repo.WorktreeID)
	u.held = nil
	u.shadows = slices.DeleteFunc(u.shadows, func(ref git.Ref) bool { return !strings.HasSuffix(ref.Name, "-"+hash) })
	sessions := 0
	err := w.WithLock(ctx, func() error {
		var failed []error
		for _, s := range u.states {
			if w.OwnsSession(s) {
				sessions++
				failed = append(failed, w.Sessions.Remove(s.ID))
			}
		}
		return errors.Join(append(failed, u.removeShadows(ctx))...)
	})
	if err != nil {
		return err
	}
	u.doneWith(sessions, "Removed the state of "+ui.Plural(sessions, "session"))
	u.doneWith(len(u.shadows), "Removed "+ui.Plural(len(u.shadows), "shadow branch"))
	// The worktree's former .entire is restored.
	if i := slices.IndexFunc(u.prints, func(f *Footprint) bool { return f.Worktree == u.repo.Root }); i >= 0 {
		err = u.prints[i].TakeBackHere()
	} else {
		err = disk.RemoveAll(workspace.EntireDir(u.repo.Root))
	}
	if err != nil {
		return err
	}
	if err := disk.RemoveAll(workspace.Runtime(u.repo, settings.Machine).Path()); err != nil {
		return err
	}
	u.done("Removed .entire")
	if u.level == settings.Machine {
		u.Streams.Notef("Every repository on this machine is recorded, and so will be the next session here.")
		u.Streams.Hint("run `entire disable` to leave out this repository, with all of its worktrees")
	}
	u.Streams.Printf("\nEntire is uninstalled from this worktree: nothing is recorded here any more.\n" +
		"Git hooks and snapshots are kept, since other worktrees are recorded:\n")
	for _, root := range u.others {
		u.Streams.Printf("  %s\n", root)
	}
	return nil
}

// remove removes hooks first and the data that other steps need last, so that a second run
// completes an interrupted first one.
func (u *uninstalling) remove(ctx context.Context) error {
	if u.level == settings.Machine {
		if err := disableClone(u.repo); err != nil { // no session may install the hooks again meanwhile
			return err
		}
	}
	if err := u.removeAgentHooks(u.roots...); err != nil {
		return err
	}
	u.done("Removed agent hooks")
	if err := RemoveServer(ctx, u.App, u.repo, Removal{From: u.roots, Roots: u.roots}); err != nil {
		return err
	}
	report, err := githook.Installer{Repo: u.repo}.Uninstall(ctx)
	if err != nil {
		return err
	}
	u.done("Removed git hooks")
	for _, text := range report.Notes {
		u.Streams.Notef("%s", text)
	}
	if err := disk.RemoveAll(session.Open(u.repo.CommonDir).Dir()); err != nil {
		return err
	}
	u.doneWith(u.sessions, "Removed the state of "+ui.Plural(u.sessions, "session"))
	if err := u.removeShadows(ctx); err != nil {
		return err
	}
	u.doneWith(len(u.shadows), "Removed "+ui.Plural(len(u.shadows), "shadow branch"))
	// The catalog's rows of saved contexts, whose refs are removed. If the catalog can't be
	// written, the rows remain until another repository is added to it.
	path := u.Registry().CatalogPath()
	if _, err := os.Lstat(path); err == nil {
		open := func(ctx context.Context) (*catalog.Catalog, error) { return catalog.Open(ctx, path) }
		_ = contextstore.Store{Repo: u.repo, Catalog: open}.Forget(ctx)
	}
	// The snapshots and their rows in the catalog. Without an entry, their files are removed with
	// the folder.
	if entry, err := registry.Own(registry.RepositoryDir(u.repo.CommonDir)); err == nil {
		if err := u.Registry().DeleteStore(ctx, entry); err != nil {
			return err
		}
		u.doneWith(u.snapshots, "Removed "+ui.Plural(u.snapshots, "snapshot"))
	}
	if err := u.removeFolders(); err != nil {
		return err
	}
	u.done("Removed .entire")
	for _, dir := range workspace.Folders(u.repo, workspace.Own, git.Worktrees(u.repo)...) {
		if err := disk.RemoveAll(dir); err != nil {
			return err
		}
	}
	if u.level == settings.Machine {
		if err := disableClone(u.repo); err != nil {
			return err
		}
		u.Streams.Printf("\nEvery other repository on this machine is recorded; %s leaves out this one.\n", u.ShortPath(settings.CloneFile(u.repo.CommonDir)))
	}
	u.Streams.Printf("\nEntire is uninstalled, and so disabled.\n%s", u.stays(ctx))
	for _, s := range u.user {
		u.Streams.Notef("The hooks for %s in %s are kept for your other projects.", s.Agent.Label, u.ShortPath(s.Path))
		u.Streams.Hint("run `entire agents remove " + s.Agent.Name + " --user`")
	}
	return nil
}

// stays returns the line about what is not removed, "" if nothing is left.
func (u *uninstalling) stays(ctx context.Context) string {
	var list []string
	inRefs, _ := git.RefsExist(ctx, u.repo, checkpoint.CheckpointRefs)
	imported, _ := checkpoint.ImportedTip(ctx, u.repo)
	if _, err := u.repo.ResolveRef(checkpoint.MetadataBranch); err == nil {
		list = append(list, "branch entire/checkpoints/v1")
	}
	if inRefs {
		list = append(list, "checkpoints in "+strings.TrimSuffix(checkpoint.CheckpointRefs, "/"))
	}
	if imported != "" {
		list = append(list, "imported checkpoints in "+checkpoint.ImportedRef)
	}
	trees, _ := u.repo.Notes.Trees(ctx)
	if trees.Own != "" {
		list = append(list, "links in "+git.NotesRef)
	}
	if trees.Imported != "" {
		list = append(list, "links in "+git.ImportedNotesRef)
	}
	if len(list) == 0 {
		return ""
	}
	return "Kept: " + strings.Join(list, ", ") + ".\n"
}

// done records and prints the end of a step.
func (u *uninstalling) done(what string) {
	u.step++
	u.tick(u.step, u.steps)
	u.Streams.ClearProgress()
	u.Streams.Printf("%s %s\n", u.Streams.Paint(ui.Green, "✓"), what)
}

// doneWith is like done, but prints nothing if n is 0.
func (u *uninstalling) doneWith(n int, what string) {
	if n > 0 {
		u.done(what)
	} else {
		u.step++
	}
}

func (u *uninstalling) removeAgentHooks(roots ...string) error {
	var failed []error
	for _, root := range roots {
		for _, s := range app.AllSettings(u.repo, root) {
			if _, err := s.Uninstall(); err != nil {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

func (u *uninstalling) removeShadows(ctx context.Context) error {
	return git.Remove(ctx, u.repo, "entire: uninstall", slices.Concat(u.shadows, u.held))
}

// removeFolders restores the former .entire of every worktree. In a worktree that was never enabled
// it removes only the files that hooks wrote, in the current one the whole folder.
func (u *uninstalling) removeFolders() error {
	var failed []error
	known := make([]string, 0, len(u.prints))
	for _, f := range u.prints {
		known = append(known, f.Worktree)
		failed = append(failed, f.TakeBack())
	}
	for _, root := range u.roots {
		switch {
		case slices.Contains(known, root):
		case root == u.repo.Root:
			failed = append(failed, disk.RemoveAll(workspace.EntireDir(root)))
		default:
			failed = append(failed, removeRuntime(root))
		}
	}
	return errors.Join(failed...)
}

// removeRuntime removes the files that hooks write into a worktree.
func removeRuntime(root string) error {
	dir := workspace.EntireDir(root)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, written := range workspace.RuntimeDirs(root) {
		if err := disk.RemoveAll(written); err != nil {
			return err
		}
	}
	_ = disk.Remove(dir) // only if it is empty
	return nil
}

// records reports whether the worktree at root records: it has hooks of an agent, or .entire
// together with hooks in the user's own settings, or an active session or one with pending files.
func (u *uninstalling) records(root string) bool {
	for _, s := range app.AllSettings(u.repo, root) {
		if n, _, err := s.Check(); err == nil && n > 0 {
			return true
		}
	}
	if _, err := os.Lstat(workspace.EntireDir(root)); err == nil && len(u.user) > 0 {
		return true
	}
	return slices.ContainsFunc(u.states, func(s *session.State) bool {
		return s.WorktreePath == root && (s.Phase == session.Active || len(s.FilesTouched) > 0)
	})
}
