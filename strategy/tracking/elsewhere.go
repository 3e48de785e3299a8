package tracking

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// mostElsewhere is the maximum number of repositories that a state keeps until they are looked at.
	mostElsewhere = 128
	// mostLookups is the maximum number of folders of a scan whose repository is searched.
	mostLookups = 512
	// mostExpanded is the maximum number of paths to which a pattern of a command is expanded.
	mostExpanded = 128
)

// NamedRepositories returns the folders with a .git that tool calls of a scan named and that aren't
// root: the nearest above each path that an edit tool or a command that may write named. Each has the
// first line that named it.
func NamedRepositories(root string, scan transcript.Scan) []session.Elsewhere {
	f := finder{root: root, known: map[string]string{}, found: map[string]int{}}
	for _, e := range scan.Edits {
		if p := absolutePath(e.Dir, e.Path); p != "" {
			f.add(filepath.Dir(p), e.Line)
		}
	}
	for _, c := range scan.Calls {
		if c.Command == "" {
			continue
		}
		for _, p := range writtenPlaces(c) {
			f.add(p, c.Line)
		}
	}
	return f.list
}

// noteElsewhere adds the repositories that a scan of a transcript named to the state.
func noteElsewhere(w *workspace.Workspace, s *session.State, scan transcript.Scan) {
	for _, e := range NamedRepositories(w.Repo.Root, scan) {
		t := s.Recorder.TurnAt(e.Line, scan.LastTime)
		e.Line, e.Start, e.Turn = t.Line, t.Start, s.TurnID
		if t != &s.Recorder.Turn {
			e.Turn = t.ID
		}
		same := func(o session.Elsewhere) bool { return o.Root == e.Root && o.Turn == e.Turn }
		if len(s.Recorder.Elsewhere) < mostElsewhere && !slices.ContainsFunc(s.Recorder.Elsewhere, same) {
			s.Recorder.Elsewhere = append(s.Recorder.Elsewhere, e)
		}
	}
}

// finder finds the repositories of paths.
type finder struct {
	root  string
	known map[string]string // the folder with .git above a folder, "" if there is none
	found map[string]int
	list  []session.Elsewhere
}

// add adds the repository of a path, which may be a file or may not exist.
func (f *finder) add(dir string, line int) {
	root := f.repositoryOf(dir)
	if root == "" || root == f.root {
		return
	}
	if physical, err := filepath.EvalSymlinks(root); err == nil {
		root = physical
	}
	if _, known := f.found[root]; known || root == f.root {
		return
	}
	f.found[root] = line
	f.list = append(f.list, session.Elsewhere{Root: root, Line: line})
}

// repositoryOf returns the nearest folder with a .git at or above a path, "" if there is none, or if
// too many folders were examined.
func (f *finder) repositoryOf(dir string) string {
	var passed []string
	found := ""
	for len(f.known) < mostLookups {
		if known, ok := f.known[dir]; ok {
			found = known
			break
		}
		passed = append(passed, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			found = dir
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		if target, err := os.Readlink(dir); err == nil { // the repository may be above its target
			dir = absolutePath(parent, target)
			continue
		}
		dir = parent
	}
	for _, p := range passed {
		f.known[p] = found
	}
	return found
}

// absolutePath returns a path that starts from dir, "" if it isn't known where it starts.
func absolutePath(dir, p string) string {
	switch {
	case p == "" || strings.IndexByte(p, 0) >= 0:
		return ""
	case filepath.IsAbs(p):
		return filepath.Clean(p)
	case !filepath.IsAbs(dir):
		return ""
	}
	return filepath.Join(dir, p)
}

// writtenPlaces returns the absolute paths that a shell command names, except those of programs that only
// read: the folders into which it changes, and its words, with patterns expanded.
func writtenPlaces(c transcript.Call) []string {
	var places []string
	dir := c.Dir
	line := shellcmd.Split(c.Command)
	for i, words := range line.Words() {
		places = append(places, expandWords(dir, line.Outputs(i))...)
		if len(words) == 0 {
			continue
		}
		inner := innerCommand(words)
		switch {
		case inner != "":
			places = append(places, writtenPlaces(transcript.Call{Command: inner, Dir: dir})...)
			continue
		case words[0] == "cd", words[0] == "pushd":
			if len(words) > 1 {
				dir = absolutePath(dir, words[len(words)-1])
			}
		case onlyReads(words):
			continue
		default:
			places = append(places, expandWords(dir, words)...)
		}
		if dir != "" {
			places = append(places, dir)
		}
	}
	return places
}

// innerCommand returns the command that a shell is started with, "" if words don't start one.
func innerCommand(words []string) string {
	switch path.Base(words[0]) {
	case "sh", "bash", "zsh", "dash", "ksh", "eval":
	default:
		return ""
	}
	for i, word := range words[1:] {
		if words[0] == "eval" || i > 0 && strings.HasPrefix(words[i], "-") && strings.HasSuffix(words[i], "c") {
			return word
		}
	}
	return ""
}

// expandWords returns the words that may be paths as absolute ones. In `--option=path` and `a:path` the
// path is after the separator.
func expandWords(dir string, words []string) []string {
	var paths []string
	for _, word := range words {
		if i := strings.LastIndexAny(word, "=:"); i >= 0 {
			word = word[i+1:]
		}
		if word == "" || word[0] == '-' {
			continue
		}
		p := absolutePath(dir, word)
		switch {
		case p == "":
		case strings.ContainsAny(word, "*?["):
			paths = append(paths, matchesOf(p)...)
		default:
			paths = append(paths, p)
		}
	}
	return paths
}

// matchesOf returns the first existing paths that match an absolute pattern.
func matchesOf(pattern string) []string {
	found := []string{"/"}
	for name := range strings.SplitSeq(strings.Trim(filepath.ToSlash(pattern), "/"), "/") {
		var next []string
		for _, dir := range found {
			if !strings.ContainsAny(name, "*?[") {
				next = append(next, filepath.Join(dir, name))
				continue
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				continue
			}
			for _, e := range entries {
				if is, _ := path.Match(name, e.Name()); is && (e.Name()[0] != '.' || name[0] == '.') {
					next = append(next, filepath.Join(dir, e.Name()))
				}
			}
		}
		found = next[:min(len(next), mostExpanded)]
	}
	return found
}

// Own returns the part of a scan that can have changed the repository. All of it can if the session
// started here. Else it is the edits of files here, and the calls of a shell that worked here: in this
// worktree, or with a word that names something in it.
func Own(repo *git.Repo, s *session.State, scan transcript.Scan) transcript.Scan {
	if s.Recorder.Launched == "" {
		return scan
	}
	scan.Edits = slices.Clone(scan.Edits)
	for i, e := range scan.Edits {
		scan.Edits[i].Path = absolutePath(e.Dir, e.Path)
	}
	scan.Edits = slices.DeleteFunc(scan.Edits, func(e transcript.Edit) bool { _, in := repo.Rel(e.Path); return !in })
	scan.Calls = slices.DeleteFunc(slices.Clone(scan.Calls), func(c transcript.Call) bool {
		return !transcript.IsTask(c.Tool) && !worksIn(repo, c)
	})
	for i, c := range scan.Calls {
		scan.Calls[i].Command = adapted(repo, c)
	}
	return scan
}

// adapted returns a shell's command with the words that name something in a worktree relative to its
// root.
func adapted(repo *git.Repo, c transcript.Call) string {
	command := c.Command
	for word := range strings.FieldsFuncSeq(c.Command, isSeparator) {
		if !strings.Contains(word, "/") {
			continue
		}
		p := absolutePath(c.Dir, word)
		if rel, in := repo.Rel(p); p != "" && in && rel != word {
			command = strings.ReplaceAll(command, word, rel)
		}
	}
	return command
}

// worksIn reports whether a shell's command worked in a worktree: one of its programs ran in it, or has
// a word that names something in it. A command in a folder above that doesn't show all of its words
// may have.
func worksIn(repo *git.Repo, c transcript.Call) bool {
	if c.Command == "" {
		return false
	}
	in := func(p string) bool {
		_, is := repo.Rel(p)
		return is || p == repo.Root
	}
	if slices.ContainsFunc(writtenPlaces(c), in) {
		return true
	}
	above, err := filepath.Rel(c.Dir, repo.Root)
	return err == nil && c.Dir != "" && filepath.IsLocal(above) && expands(c.Command)
}
