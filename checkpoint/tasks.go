package checkpoint

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// maxTaskFiles bounds what is read of one session's task checkpoints.
const maxTaskFiles = 10_000

// Tasks lists the files of a session's task checkpoints in a shadow tree, by
// their paths below the directory of tasks. What can't be a part of one is left
// out.
func Tasks(ctx context.Context, repo *git.Repo, shadow git.OID, sessionID string) ([]gittree.Edit, error) {
	dir, found, err := gittree.Lookup(ctx, repo, shadow, TasksDir(sessionID))
	if err != nil || !found || dir.Mode != git.ModeTree {
		return nil, err
	}
	tasks, err := repo.Tree(ctx, dir.OID)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	var files []gittree.Edit
	for _, task := range tasks {
		if task.Mode != git.ModeTree || !transcript.IsToolID(task.Name) {
			continue
		}
		if files, err = taskFiles(ctx, repo, files, task.Name, task.OID); err != nil {
			return nil, fmt.Errorf("list task %s: %w", task.Name, err)
		}
	}
	return files, nil
}

// taskFiles adds the files of a task: those in its directory and in the one of
// its incremental checkpoints.
func taskFiles(ctx context.Context, repo *git.Repo, files []gittree.Edit, dir string, tree git.OID) ([]gittree.Edit, error) {
	entries, err := repo.Tree(ctx, tree)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		switch {
		case len(files) >= maxTaskFiles || !git.ValidPath(name):
		case e.Mode == git.ModeFile:
			files = append(files, gittree.Edit{Path: name, Mode: e.Mode, OID: e.OID})
		case e.Mode == git.ModeTree && !strings.Contains(dir, "/"):
			if files, err = taskFiles(ctx, repo, files, name, e.OID); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// PutTasks puts files of task checkpoints, by the paths that Tasks gives, into
// the checkpoint id in v1Tree, and returns the new tree. Their contents must be
// redacted.
func PutTasks(ctx context.Context, repo *git.Repo, v1Tree git.OID, id ID, files []gittree.Edit) (git.OID, error) {
	if len(files) == 0 {
		return v1Tree, nil
	}
	edits := make([]gittree.Edit, len(files))
	for i, f := range files {
		edits[i] = gittree.Edit{Path: id.Dir() + "/" + tasksDir + "/" + f.Path, Mode: f.Mode, OID: f.OID}
	}
	next, err := gittree.Apply(ctx, repo, v1Tree, edits)
	if err != nil {
		return "", fmt.Errorf("put tasks into checkpoint %s: %w", id, err)
	}
	return next, nil
}
