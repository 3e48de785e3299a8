package transcript

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/session/agent"
)

// Origin determines from a transcript's lines in which project it was written. The lines name the
// folder in which the agent was started, which may be below the project's root. The files that it
// edited there determine the root.
type Origin struct {
	slug    string
	touched map[string]struct{}
	first   string // the first folder that a line names
	now     string // the last folder that a line names
	root    string // set once an edit has shown it
	entry   entry
}

// NewOrigin returns an Origin that knows the name of the agent's directory for the session and the
// paths below the root that the session has changed. Both may be empty or wrong.
func NewOrigin(slug string, touched []string) *Origin {
	o := &Origin{slug: slug, touched: make(map[string]struct{}, len(touched))}
	for _, path := range touched {
		o.touched[path] = struct{}{}
	}
	return o
}

// AddLine processes a line, in the order of the transcript, and reports whether further lines would
// change nothing.
func (o *Origin) AddLine(line []byte) (settled bool) {
	e := &o.entry
	if !e.parse(line) {
		return o.settled()
	}
	if e.cwd != nil {
		o.now = Unescaped(e.cwd)
	}
	if o.first == "" {
		o.first = o.now
	}
	if o.first != "" && o.root == "" {
		for _, b := range e.message.blocks {
			if string(b.kind) != "tool_use" || effectOf(toolName(Unescaped(b.name))) != effectNamed {
				continue
			}
			if o.root = o.rootOf(parseInput(b.input).path); o.root != "" {
				break
			}
		}
	}
	return o.settled()
}

func (o *Origin) settled() bool { return o.root != "" || o.first != "" && len(o.touched) == 0 }

// rootOf returns the folder below which the rest of path is a touched path, "" if there is none.
// The agent must have been started, or be working, in or below that folder.
func (o *Origin) rootOf(path string) string {
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		_, known := o.touched[path[i+1:]]
		root := path[:i]
		if known && usableRoot(root) && (inside(o.first, root) || inside(o.now, root)) {
			return root
		}
	}
	return ""
}

func inside(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }

// Root returns the project's root, as far as the lines determine it: the root of an edited known
// file, else the folder at or above the agent's first folder after which its directory is named,
// else that first folder. It is empty if the lines name none.
func (o *Origin) Root() string {
	switch {
	case o.root != "":
		return o.root
	case !usableRoot(o.first), slices.Contains([]string{"/home", "/Users"}, filepath.Dir(o.first)):
		// An agent may be started in a home directory, but the project is below it.
		return ""
	}
	for dir := o.first; dir != "/" && o.slug != ""; dir = filepath.Dir(dir) {
		if agent.ProjectSlug(dir) == o.slug {
			return dir
		}
	}
	return o.first
}

// usableRoot reports whether a folder named in a transcript is a clean absolute path on a system
// like this one, and can be a project.
func usableRoot(dir string) bool {
	return strings.HasPrefix(dir, "/") && filepath.Clean(dir) == dir &&
		!slices.Contains([]string{"/", "/home", "/root", "/Users", "/tmp"}, dir)
}

// SlugOf returns the name of the agent's directory that contained a transcript, given its path
// relative to the home directory; empty if the path has another form.
func SlugOf(path string) string {
	dir := filepath.Dir(filepath.FromSlash(path))
	if filepath.Base(dir) == "chats" { // of Qwen Code
		dir = filepath.Dir(dir)
	}
	if filepath.Base(filepath.Dir(dir)) != "projects" {
		return ""
	}
	return filepath.Base(dir)
}
