package settings

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tailscale/hujson"
)

const (
	// maxSize and maxDepth bound a settings file, which anybody may have
	// written.
	maxSize  = 1 << 20
	maxDepth = 64
)

// ProjectFile and LocalFile are the settings files of the worktree root.
func ProjectFile(root string) string { return filepath.Join(root, ".entire", "settings.json") }

// LocalFile is the personal settings file of the worktree root.
func LocalFile(root string) string { return filepath.Join(root, ".entire", "settings.local.json") }

// UserFile is the user's own settings file, empty without a home.
func UserFile(from Sources) string { return from.configFile("entire", "settings.json") }

// ContextdFile is the file of contextd, whose settings of saved contexts
// count below the user's own, empty without a home.
func ContextdFile(from Sources) string { return from.configFile("contextd", "config.json") }

func (from Sources) configFile(program, name string) string {
	dir := from.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		if from.Home == "" {
			return ""
		}
		dir = filepath.Join(from.Home, ".config")
	}
	return filepath.Join(dir, program, name)
}

// MarkerFile reports whether the repository was enabled on this machine.
func MarkerFile(commonDir string) string { return filepath.Join(commonDir, "entire", "enabled") }

// Load reads all layers. It reads no more than six files, the marker, and where
// the project proposes something, the user's approvals.
func Load(from Sources) Settings {
	l := loader{from: from, Settings: defaults(), fields: fields()}
	l.sources = make(map[string]Source, len(l.fields))
	l.file(Contextd, ContextdFile(from))
	l.file(User, UserFile(from))
	// The worktree's files or, if it has none, the main worktree's.
	found := false
	for _, root := range []string{from.Worktree, from.MainWorktree} {
		if found || root == "" || root == l.Root {
			continue
		}
		before := len(l.Files)
		l.Root, l.tracked = root, nil
		l.file(Project, ProjectFile(root))
		l.file(Local, LocalFile(root))
		found = len(l.Files) > before
	}
	if !found {
		l.Root = from.Worktree
	}
	for i := range l.fields {
		f := &l.fields[i]
		for _, name := range f.variables {
			l.variable(f, name)
		}
		l.variable(f, Variable(f.key))
	}
	// A repository in which nobody enabled recording isn't enabled by the default.
	if l.from.CommonDir != "" {
		_, err := os.Stat(MarkerFile(l.from.CommonDir))
		l.Marker = err == nil
	}
	l.Configured = l.Marker
	for _, f := range l.Files {
		l.Configured = l.Configured || f.Layer != User
	}
	l.Enabled = l.Enabled && l.Configured
	return l.Settings
}

type loader struct {
	Settings

	from      Sources
	fields    []field
	tracked   *bool             // git tracks the personal file; nil: not asked yet
	approvals map[string]string // by key; nil: not read yet
}

func (l *loader) variable(f *field, name string) {
	v := l.from.Getenv(name)
	if v == "" {
		return
	}
	if r := (raw{kindText, v}); !l.isForProject(f, r) {
		if file := l.clientFile(name); file != "" {
			p := bad(f, r, Source{Env, file})
			p.Allowed += ", and in the env of a file of the worktree nothing that a project may not set"
			l.Problems = append(l.Problems, p)
			return
		}
	}
	l.apply(f, raw{kindText, v}, Source{Env, name})
}

// clientFile returns the file of the worktree in which the agent's client is configured
// to set a variable for all that it runs, or "". Such a variable is the
// repository's word, although it arrives in the environment.
func (l *loader) clientFile(variable string) string {
	for _, root := range []string{l.from.Worktree, l.from.MainWorktree, l.from.Getenv("CLAUDE_PROJECT_DIR")} {
		if !filepath.IsAbs(root) {
			continue
		}
		for _, name := range []string{"settings.json", "settings.local.json"} {
			path := filepath.Join(root, ".claude", name)
			data, err := readFile(path)
			if err != nil {
				continue
			}
			var file struct {
				Env map[string]any `json:"env"`
			}
			if err := json.Unmarshal(data, &file); err != nil {
				continue // the client doesn't take such a file either
			}
			if _, ok := file.Env[variable]; ok {
				return path
			}
		}
	}
	return ""
}

// file reads one file, if it exists.
func (l *loader) file(layer Layer, path string) {
	if path == "" {
		return
	}
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	if layer != Contextd {
		l.Files = append(l.Files, File{Layer: layer, Path: path, Enabled: true})
	}
	var root *hujson.Object
	if err == nil {
		root, err = parse(data)
	}
	if err != nil {
		l.Problems = append(l.Problems, Problem{Where: path, Allowed: err.Error()})
		return
	}
	l.object(root, "", Source{layer, path})
}

// object applies the members of an object whose keys begin with prefix.
func (l *loader) object(o *hujson.Object, prefix string, from Source) {
	for _, m := range o.Members {
		name, ok := m.Name.Value.(hujson.Literal)
		if !ok {
			continue
		}
		key := prefix + unquote(name)
		if f := l.field(key, from.Layer); f != nil {
			if m.Value.Value.Kind() != 'n' {
				l.apply(f, toRaw(m.Value.Value), from)
			}
			continue
		}
		if !l.group(key, from.Layer) {
			l.Unknown = append(l.Unknown, UnknownKey{Key: key, File: from.Name, Foreign: from.Layer == Contextd})
			continue
		}
		if o, ok := m.Value.Value.(*hujson.Object); ok {
			l.object(o, key+".", from)
		} else if m.Value.Value.Kind() != 'n' {
			l.Problems = append(l.Problems, Problem{Where: from.Name, Key: key, Got: toRaw(m.Value.Value).quoted(), Allowed: "an object"})
		}
	}
}

// name is the key in the files of a layer, empty if they don't have it.
func (f field) name(in Layer) string {
	switch {
	case in != Contextd:
		return f.key
	case f.block == "":
		return ""
	}
	return f.block + strings.TrimPrefix(f.key, recallGroup)
}

func (l *loader) field(key string, in Layer) *field {
	for i := range l.fields {
		if name := l.fields[i].name(in); name == key && name != "" {
			return &l.fields[i]
		}
	}
	return nil
}

// group reports whether key holds other keys.
func (l *loader) group(key string, in Layer) bool {
	for i := range l.fields {
		name := l.fields[i].name(in)
		if len(name) > len(key) && name[len(key)] == '.' && strings.HasPrefix(name, key) {
			return true
		}
	}
	return false
}

// apply puts a value in force, or the default if the value is bad.
func (l *loader) apply(f *field, r raw, from Source) {
	if !l.isForProject(f, r) && l.isProject(from) {
		l.propose(f, r, from)
		return
	}
	if f.set(&l.Settings, r) {
		l.sources[f.key] = from
		delete(l.refused, f.key)
		if f.key == KeyEnabled && from.Layer <= Local { // the file's own value
			l.Files[len(l.Files)-1].Enabled = l.Enabled
		}
		return
	}
	l.Problems = append(l.Problems, bad(f, r, from))
	initial := defaults() // a refused value leaves the default in force
	if r, ok := rawOf(f.get(&initial)); ok {
		f.set(&l.Settings, r)
	}
	delete(l.sources, f.key)
	if l.refused == nil {
		l.refused = make(map[string]Source)
	}
	l.refused[f.key] = from
}

func bad(f *field, r raw, from Source) Problem {
	return Problem{Where: from.Name, Key: f.name(from.Layer), Got: r.quoted(), Allowed: f.allowed}
}
