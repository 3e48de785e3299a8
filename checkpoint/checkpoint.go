// Package checkpoint implements the format of the records in git: checkpoint ids and trailers,
// sessions' directories, shadow branches, and the branch entire/checkpoints/v1.
// docs/formats/checkpoint.md describes it.
//
// The package writes objects and moves refs. Callers decide which sessions, files and prompts a
// checkpoint contains, and redact them. The records may have been written by anybody who can push
// to the branch, so ids and paths are checked before they are returned.
//
// Transcripts are stored as redacted blobs of whole lines and a hash of their text
// (segment_*.go), the tasks of subagents as directories of their own and shadow commits
// (task*.go). Tombstones list the data that was forgotten in a repository, so that it is not
// recorded again: ids, salted hashes of texts, and paths and lines of files.
package checkpoint

import (
	"errors"
	"fmt"
	"sync"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Errors of this package.
var (
	// ErrNotFound means that there is no such checkpoint, or no branch that could contain it.
	ErrNotFound = errors.New("no such checkpoint")
	// ErrInvalid means that an id is malformed.
	ErrInvalid = errors.New("invalid checkpoint id")
)

// The refs of this program.
const (
	MetadataBranch = "refs/heads/entire/checkpoints/v1"
	remoteBranch   = "refs/remotes/origin/entire/checkpoints/v1"
	// RemoteBranches matches the metadata branches of all remotes.
	RemoteBranches = "refs/remotes/*/entire/checkpoints/v1"
	// BranchRefs begins the names of the metadata branch and of shadow branches, OwnRefs those of
	// all refs that are no branches.
	BranchRefs = "refs/heads/entire/"
	OwnRefs    = "refs/entire/"
	// CheckpointRefs begins the names of the refs of checkpoints, see ID.Ref.
	CheckpointRefs = OwnRefs + "checkpoints/"
	// ImportedRef has the checkpoints of sessions that were imported, in the layout of the metadata branch.
	// It is never pushed.
	ImportedRef = OwnRefs + "imported"
	// HeldRefs keep the commits left by rewinds and resets, BackupRefs those replaced by repairs.
	HeldRefs   = OwnRefs + "rewind/"
	BackupRefs = OwnRefs + "backup/"
	// PushedRefs record the commit that a remote is known to have, by a hash of its URL; FetchedRefs
	// hold what is being merged.
	PushedRefs  = OwnRefs + "pushed/"
	FetchedRefs = OwnRefs + "fetched/"
)

// The names of the strategies in trailers and metadata.
const (
	ManualCommit = "manual-commit"
	AutoCommit   = "auto-commit"
)

// Names of the files of a session, in shadow trees and on the metadata branch.
const (
	metadataFile = "metadata.json"
	promptFile   = "prompt.txt"
	summaryFile  = "summary.txt"
	contextFile  = "context.md"
)

// TasksDir is the folder of a session's tasks, in shadow trees and in checkpoints. TaskFile is the
// file in a task's folder that records the end of the task: see package tasks.
const (
	TasksDir = "tasks"
	TaskFile = "checkpoint.json"
	// otherTaskFile is the file in place of it in checkpoints of other versions. It doesn't name the
	// session.
	otherTaskFile = "task.json"
)

const (
	// maxEntry is the maximum size of a metadata or prompt file that is read, maxMetadata the
	// maximum size of all metadata files of a checkpoint together.
	maxEntry    = 8 << 20
	maxMetadata = 32 << 20
)

// besides is the minimum size of blobs that are compressed concurrently.
const besides = 32 << 10

// file is an entry of a metadata directory to be written.
type file struct {
	name string
	data []byte
}

// writeFiles writes the files as blobs and returns their tree entries.
func writeFiles(repo *git.Repo, files []file) ([]git.TreeEntry, error) {
	entries := make([]git.TreeEntry, len(files))
	failed := make([]error, len(files))
	var wait sync.WaitGroup
	for i, f := range files {
		write := func() {
			defer func() {
				if p := recover(); p != nil { // in a goroutine a panic would end the hook
					failed[i] = fmt.Errorf("write %s: panic: %v", f.name, p)
				}
			}()
			oid, err := WriteBlob(repo, f.data)
			if err != nil {
				failed[i] = fmt.Errorf("write %s: %w", f.name, err)
			}
			entries[i] = git.TreeEntry{Mode: git.ModeFile, Name: f.name, OID: oid}
		}
		if len(f.data) < besides {
			write()
			continue
		}
		wait.Go(write)
	}
	wait.Wait()
	return entries, errors.Join(failed...)
}
