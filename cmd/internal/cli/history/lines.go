package history

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/blame"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// reading is one run of a command.
type reading struct {
	*app.App

	reader blame.Reader
}

// read opens the repository and calls do.
func read(a *app.App, do func(*reading) error) (err error) {
	repo, err := a.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	w, log := a.LoggingWorkspace(repo, "blame")
	defer func() { _ = log.Close() }()
	stages := func(do func(query.Progress) error) error {
		return a.Streams.Stages("Reading the record", func(reach func(string, int64, int64)) error { return do(reach) })
	}
	return do(&reading{App: a, reader: blame.Reader{Repo: repo, Workspace: w, Stages: stages}})
}

// path returns a path relative to the root of the worktree.
func (r *reading) path(typed string) (string, error) {
	if r.reader.Repo.Root == "" {
		return filepath.ToSlash(filepath.Clean(typed)), nil
	}
	paths, err := app.TreePaths(r.reader.Repo.Root, r.Dir, []string{typed})
	if err != nil {
		return "", err
	}
	if len(paths) == 0 {
		return "", app.Usagef("%s is a directory", format.Path(typed))
	}
	return paths[0], nil
}

// rev returns the revision to read a file from: the given one, or HEAD in a bare repository.
func (r *reading) rev(given string) string {
	if given == "" && r.reader.Repo.Root == "" {
		return "HEAD"
	}
	return given
}

// explained adds hints to the errors of blame.
func (r *reading) explained(err error, rev, path string) error {
	hint, said := format.LinesError(r.reader.Repo, err, rev, path)
	if hint == "" {
		return said
	}
	return app.WithHint(said, hint)
}

// whose returns a short name of an author.
func whose(a *blame.Author) string {
	switch a.Kind {
	case blame.Agent:
		name := a.Agent
		if name == "" {
			name = "agent"
		}
		if a.Type != "" {
			name += "/" + a.Type
		} else if a.Subagent != "" {
			name += "/subagent"
		}
		return ui.Line(name, format.NameWidth)
	case blame.Person:
		if a.Name == "" {
			return "you"
		}
		return ui.Line(a.Name, format.NameWidth)
	case blame.Unknown:
	}
	return blame.NotRecorded
}

// basisHint returns the hint for lines of commits whose author is not recorded, empty if there is
// none. commits is a range of commits.
func basisHint(b blame.Basis, commits string) string {
	if b == blame.NotSeen || b == blame.OnServer {
		return "`entire link --find " + commits + "` lists those with a session's content, `entire fetch` fetches others' checkpoints"
	}
	return ""
}

// about describes why an author wrote a line: the title of the turn, or a commit's subject.
func about(f *blame.File, a *blame.Author) string {
	var text string
	switch {
	case a.Kind == blame.Agent:
		text = a.Turn.Title
	case a.Commit != "":
		text = plain.FirstLine(f.Commits[a.Commit].Message)
	}
	if a.Commit == "" {
		note := "not committed"
		if a.Number > 0 {
			note = fmt.Sprintf("turn %d, not committed", a.Number)
		}
		if text != "" {
			return note + ": " + text
		}
		return note
	}
	switch {
	case a.Imported:
		return "~ " + imported + ": " + text
	case a.Derived:
		return "~ " + text
	}
	return text
}

// imported is the word for sessions, and for links of commits, that were imported.
const imported = "imported"

// commitName returns the abbreviated id of a commit, dashes if there is none.
func commitName(oid git.OID) string {
	if oid == "" {
		return "-------"
	}
	return oid.Short()
}
