package workspace

import (
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
)

// Traits are the properties of a place where the program writes in a repository, a folder or a
// prefix of refs. Refs and Folders are the tables of all places.
type Traits uint8

const (
	// Recorded places, with the folders below them, are searched when something is forgotten.
	Recorded Traits = 1 << iota
	// Own places, with the folders below them, have nothing of the user's: uninstalling removes them.
	Own
	// Temporary ones are folders in which the program replaces files: a killed process leaves a
	// temporary file there.
	Temporary
)

type place struct {
	name string
	Traits
}

// Refs returns the refs that have the traits, as prefixes for git.ListRefs. Only the metadata branch
// and shadow branches are the program's of those below checkpoint.BranchRefs. Uninstalling leaves the
// metadata branch, the refs of checkpoints and those of imported ones.
func Refs(has Traits) []string {
	return with(has, []place{
		{checkpoint.BranchRefs, Recorded | Own},
		{checkpoint.OwnRefs, Recorded | Own},
		{checkpoint.RemoteBranches, Recorded},
		{git.NotesRef, 0}, // ids
		{git.ImportedNotesRef, 0},
	})
}

// Folders returns the folders, and the files beside git's own, that have the traits: those of the repository, and of the worktrees.
func Folders(repo *git.Repo, has Traits, worktrees ...git.Worktree) []string {
	records, sessions, store := RecordsDir(repo), session.Open(repo.CommonDir), registry.RepositoryDir(repo.CommonDir)
	list := []place{
		{filepath.Join(repo.CommonDir, "hooks"), Temporary}, // of git
		{sessions.Dir(), Recorded | Own | Temporary},
		{sessions.SideDir(), Temporary},
	}
	for _, w := range worktrees {
		list = append(list,
			place{gitDirOf(repo, w.ID), Temporary},
			place{CheckoutDir(repo, w.ID), Recorded | Own},
			place{requestsDir(repo, w.ID), Temporary},
			place{EntireDir(w.Root), Temporary}) // settings
		for _, dir := range RuntimeDirs(w.Root) {
			list = append(list, place{dir, Recorded | Temporary})
		}
		private := settings.GitFolder(repo.CommonDir, checkpoint.WorktreeHash(w.ID))
		list = append(list, place{private.Path("logs"), Temporary}, place{private.Path("tmp"), Temporary})
	}
	for _, a := range agent.All() {
		if a.HandsOver() {
			list = append(list, place{filepath.Join(records, a.Name), Temporary}) // transcripts
		}
	}
	return with(has, append(list,
		place{checkpoint.QueuePath(repo.CommonDir), Own},
		place{checkpoint.QueueLockPath(repo.CommonDir), Own},
		place{store, Temporary},
		place{filepath.Join(store, "bands"), 0},
		place{filepath.Join(store, "checkpoints"), 0},     // a folder for each snapshot
		place{filepath.Join(records, "hooks"), Temporary}, // if git's folder of hooks isn't the repository's
		place{BackupDir(repo), Temporary},
		place{ForksDir(repo), Temporary},
		place{MemoryDir(repo), Temporary},
		place{JournalDir(repo), Temporary},
		place{TranscriptCopies(repo), Temporary},
		place{UndecodedDir(repo), Temporary},
		place{records, Recorded | Own | Temporary})) // last: uninstalling needs it
}

func with(has Traits, list []place) []string {
	var names []string
	for _, p := range list {
		if p.Traits&has == has {
			names = append(names, p.name)
		}
	}
	return names
}

// RecordsDir returns the folder of the program's records in a repository.
func RecordsDir(repo *git.Repo) string { return filepath.Join(repo.CommonDir, "entire") }

// RecordsDir returns the folder of the program's records in the repository.
func (w *Workspace) RecordsDir() string { return RecordsDir(w.Repo) }

// BackupDir returns the folder of the files as they were before enable, or before a repair.
func BackupDir(repo *git.Repo) string { return filepath.Join(RecordsDir(repo), "backup") }

// ForksDir returns the folder of the records of forks.
func ForksDir(repo *git.Repo) string { return filepath.Join(RecordsDir(repo), "forks") }

// MemoryDir returns the folder with what each session left for later ones, a file ID.json for each.
func MemoryDir(repo *git.Repo) string { return filepath.Join(RecordsDir(repo), "memory") }

// JournalDir returns the folder of the decisions about commits.
func JournalDir(repo *git.Repo) string { return filepath.Join(RecordsDir(repo), "journal") }

// TranscriptCopies returns the folder for copies of replaced transcripts.
func TranscriptCopies(repo *git.Repo) string { return filepath.Join(RecordsDir(repo), "transcripts") }

// UndecodedDir returns the folder of events of agents that couldn't be decoded.
func UndecodedDir(repo *git.Repo) string { return filepath.Join(RecordsDir(repo), "undecoded") }

// RequestsDir returns the folder of the worktree's requests for snapshots.
func (w *Workspace) RequestsDir() string { return requestsDir(w.Repo, w.Repo.WorktreeID) }

func requestsDir(repo *git.Repo, worktree string) string {
	return filepath.Join(registry.RepositoryDir(repo.CommonDir), "requests-"+checkpoint.WorktreeHash(worktree))
}

// EntireDir returns the folder of the program in a worktree.
func EntireDir(root string) string { return filepath.Join(root, ".entire") }

// RuntimeDirs returns the folders that hooks write to in a worktree that is enabled by itself.
func RuntimeDirs(root string) []string {
	dir := settings.WorktreeFolder(root)
	return []string{dir.Path("logs"), dir.Path("tmp"), dir.Path("metadata")}
}

// Runtime returns the folder to which hooks write the logs and other small files of a worktree that a
// level enables.
func Runtime(repo *git.Repo, level settings.Level) settings.Folder {
	return settings.FolderOf(level, repo.Root, repo.CommonDir, checkpoint.WorktreeHash(repo.WorktreeID))
}

// Runtime returns the folder to which hooks write the logs and other small files of the worktree.
func (w *Workspace) Runtime() settings.Folder { return Runtime(w.Repo, w.Options.Level) }

// CheckoutDir returns the folder of files that a rewind without a snapshot checks out for a short
// time, in the git directory of a worktree.
func CheckoutDir(repo *git.Repo, worktree string) string {
	return filepath.Join(gitDirOf(repo, worktree), "entire-checkout")
}

// GitDirOf returns the git directory of a worktree of the repository, by its id.
func (w *Workspace) GitDirOf(worktree string) string { return gitDirOf(w.Repo, worktree) }

func gitDirOf(repo *git.Repo, worktree string) string {
	if worktree == "" {
		return repo.CommonDir
	}
	return filepath.Join(repo.CommonDir, "worktrees", filepath.Base(worktree))
}
