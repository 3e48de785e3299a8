package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tailscale/hujson"
)

const (
	// maxSize and maxDepth limit a settings file, which may come from anyone.
	maxSize  = 1 << 20
	maxDepth = 64
)

// ProjectFile returns the path of the project's settings file in the worktree root.
func ProjectFile(root string) string { return filepath.Join(root, ".entire", "settings.json") }

// LocalFile returns the path of the personal settings file in the worktree root.
func LocalFile(root string) string { return filepath.Join(root, ".entire", "settings.local.json") }

// UserFile returns the path of the user's own settings file, or "" without a home directory.
func UserFile(from Sources) string { return from.configFile("entire", "settings.json") }

// ContextdFile returns the path of contextd's file, whose settings of saved contexts have a lower
// precedence than the user's own, or "" without a home directory.
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

// MarkerFile returns the path of the file that marks a repository as enabled on this machine.
func MarkerFile(commonDir string) string { return filepath.Join(commonDir, "entire", "enabled") }

// Load reads all layers. It reads at most eight settings files, the marker, the user's approvals if
// the project proposes a value, and the client's files if a variable has a value that a project may
// not set.
func Load(from Sources) Settings {
	l := loader{from: from, Settings: defaults(), fields: fields()}
	l.sources = make(map[string]Source, len(l.fields))
	l.file(Contextd, ContextdFile(from))
	l.file(User, UserFile(from))
	// The project's file is the worktree's or, if it has no files, the main worktree's. The personal
	// file belongs to the repository: the main worktree's is in force in all worktrees, below their
	// own ones.
	roots := []string{from.MainWorktree, from.Worktree}
	if from.MainWorktree == from.Worktree {
		roots = roots[1:]
	}
	l.Root = from.Worktree
	if !hasFiles(from.Worktree) && hasFiles(from.MainWorktree) {
		l.Root = from.MainWorktree
	}
	if l.Root != "" {
		l.file(Project, ProjectFile(l.Root))
	}
	if from.CommonDir != "" {
		l.file(Clone, CloneFile(from.CommonDir))
	}
	for _, root := range roots {
		if root != "" {
			l.file(Local, LocalFile(root))
		}
	}
	for i := range l.fields {
		f := &l.fields[i]
		if f.userOnly {
			continue
		}
		for _, name := range f.variables {
			l.variable(f, name)
		}
		l.variable(f, Variable(f.key))
	}
	// The default doesn't enable a repository in which recording was never enabled.
	if l.from.CommonDir != "" {
		_, err := os.Stat(MarkerFile(l.from.CommonDir))
		l.Marker = err == nil
	}
	l.Activation = l.activation()
	l.Configured = l.Activation.Level == Repository || l.Activation.Level == Marker ||
		l.Activation.Level == Machine && (l.Activation.On || l.Activation.Reason == Vetoed)
	l.Enabled = l.Activation.On
	return l.Settings
}

// hasFiles reports whether a worktree has a settings file of its own.
func hasFiles(root string) bool {
	return root != "" && slices.ContainsFunc([]string{ProjectFile(root), LocalFile(root)}, func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

type loader struct {
	Settings

	from      Sources
	fields    []field
	tracked   map[string]bool   // by the root of a worktree: whether git tracks its personal file
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

// clientFile returns the file of the worktree that makes the agent's client set a variable for all
// its processes, or "". The value of such a variable comes from the repository, although it arrives
// in the environment.
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
				continue // the client doesn't accept such a file either
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

// object applies the members of an object; prefix precedes the names of its keys.
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
		if !l.group(key, from.Layer) && strings.HasPrefix(key, "checkpoints.") { // a typing error would write them elsewhere
			l.Problems = append(l.Problems, Problem{Where: from.Name, Key: key, Got: toRaw(m.Value.Value).quoted(), Allowed: `in "checkpoints" only the keys "primary.type" and "mirrors"`})
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

// name returns the name of the key in the files of a layer, or "" if they don't have it.
func (f field) name(in Layer) string {
	switch {
	case f.userOnly && in != User:
		return ""
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

// group reports whether key is an object of other keys.
func (l *loader) group(key string, in Layer) bool {
	for i := range l.fields {
		name := l.fields[i].name(in)
		if len(name) > len(key) && name[len(key)] == '.' && strings.HasPrefix(name, key) {
			return true
		}
	}
	return false
}

// apply applies a value, or the default if the value is bad.
func (l *loader) apply(f *field, r raw, from Source) {
	if !l.isForProject(f, r) && l.isProject(from) {
		l.propose(f, r, from)
		return
	}
	if f.set(&l.Settings, r) {
		l.sources[f.key] = from
		delete(l.refused, f.key)
		if f.key == KeyEnabled && from.Layer <= Local { // the file's own value
			file := &l.Files[len(l.Files)-1]
			file.Enabled, file.Explicit = l.Enabled, true
		}
		return
	}
	l.Problems = append(l.Problems, bad(f, r, from))
	initial := defaults() // the default replaces a bad value
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
	return Problem{Where: from.Name, Key: cmp.Or(f.name(from.Layer), f.key), Got: r.quoted(), Allowed: f.allowed}
}
