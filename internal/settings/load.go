package settings

import (
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
func UserFile(home string, getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "entire", "settings.json")
}

// MarkerFile says that the repository was enabled on this machine.
func MarkerFile(commonDir string) string { return filepath.Join(commonDir, "entire", "enabled") }

// Load reads all layers. It looks at no more than five files and the marker.
func Load(from Sources) Settings {
	l := loader{from: from, Settings: defaults(), fields: fields()}
	l.sources = make(map[string]Source, len(l.fields))
	l.file(User, UserFile(from.Home, from.Getenv))
	l.project()
	l.environment()
	l.enablement()
	return l.Settings
}

type loader struct {
	Settings

	from   Sources
	fields []field
}

// project reads the worktree's files or, if it has none, the main worktree's.
func (l *loader) project() {
	for _, root := range []string{l.from.Worktree, l.from.MainWorktree} {
		if root == "" || root == l.Root {
			continue
		}
		before := len(l.Files)
		l.Root = root
		l.file(Project, ProjectFile(root))
		l.file(Local, LocalFile(root))
		if len(l.Files) > before {
			return
		}
	}
	l.Root = l.from.Worktree
}

func (l *loader) environment() {
	for i := range l.fields {
		f := &l.fields[i]
		name := Variable(f.key)
		if v := l.from.Getenv(name); v != "" {
			l.apply(f, raw{kindText, v}, Source{Env, name})
		}
	}
}

// enablement turns the key's value into the answer: what nobody has enabled
// isn't enabled by default.
func (l *loader) enablement() {
	if l.from.CommonDir != "" {
		_, err := os.Stat(MarkerFile(l.from.CommonDir))
		l.Marker = err == nil
	}
	l.Configured = l.Marker
	for _, f := range l.Files {
		l.Configured = l.Configured || f.Layer != User
	}
	l.Enabled = l.Enabled && l.Configured
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
	l.Files = append(l.Files, File{Layer: layer, Path: path, Enabled: true})
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
		l.member(prefix+unquote(name), m.Value.Value, from)
	}
}

func (l *loader) member(key string, v hujson.ValueTrimmed, from Source) {
	if f := l.field(key); f != nil {
		if v.Kind() != 'n' {
			l.apply(f, toRaw(v), from)
		}
		return
	}
	switch {
	case l.group(key):
		if o, ok := v.(*hujson.Object); ok {
			l.object(o, key+".", from)
		} else if v.Kind() != 'n' {
			l.Problems = append(l.Problems, Problem{Where: from.Name, Key: key, Got: toRaw(v).quoted(), Allowed: "an object"})
		}
	case later(key):
		l.later = append(l.later, Value{Key: key, Value: literal(v), Source: from})
	default:
		l.Unknown = append(l.Unknown, UnknownKey{Key: key, File: from.Name})
	}
}

func (l *loader) field(key string) *field {
	for i := range l.fields {
		if l.fields[i].key == key {
			return &l.fields[i]
		}
	}
	return nil
}

// group says whether key holds other keys.
func (l *loader) group(key string) bool {
	if key == "recall" {
		return true
	}
	for i := range l.fields {
		if strings.HasPrefix(l.fields[i].key, key) && l.fields[i].key[len(key)] == '.' {
			return true
		}
	}
	return false
}

// apply puts a value in force, or the default if the value is bad.
func (l *loader) apply(f *field, r raw, from Source) {
	if f.own && !from.Layer.own() {
		l.propose(f, r, from)
		return
	}
	if f.set(&l.Settings, r) {
		l.sources[f.key] = from
		l.sawEnabled(f, from)
		return
	}
	l.Problems = append(l.Problems, bad(f, r, from))
	l.reset(f)
}

// sawEnabled keeps what each file says of itself.
func (l *loader) sawEnabled(f *field, from Source) {
	if f.key != KeyEnabled || from.Layer > Local {
		return
	}
	l.Files[len(l.Files)-1].Enabled = l.Enabled
}

// propose lists a value that the project's file has no say in, if it is one
// that the user could accept.
func (l *loader) propose(f *field, r raw, from Source) {
	var trial Settings
	switch {
	case !f.set(&trial, r):
		l.Problems = append(l.Problems, bad(f, r, from))
	case f.get(&trial) == f.get(&Settings{}):
	default:
		l.Proposals = append(l.Proposals, Proposal{Key: f.key, Value: r.text, File: from.Name})
	}
}

// reset puts the default of a key in force.
func (l *loader) reset(f *field) {
	initial := defaults()
	switch v := f.get(&initial).(type) {
	case bool:
		text := "false"
		if v {
			text = "true"
		}
		f.set(&l.Settings, raw{kindBool, text})
	case string:
		f.set(&l.Settings, raw{kindString, v})
	case []string:
		f.set(&l.Settings, raw{kindOther, "[]"})
	}
	delete(l.sources, f.key)
}

func bad(f *field, r raw, from Source) Problem {
	return Problem{Where: from.Name, Key: f.key, Got: r.quoted(), Allowed: f.allowed}
}
