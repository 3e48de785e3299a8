package agenthook

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/jsonedit"
	"github.com/seed-3aff656d/entire/session/agent"
)

// Settings is one of the agent's settings files and the record of our changes to it.
type Settings struct {
	// Agent is the agent to which the file belongs; zero is Claude Code.
	Agent agent.Agent
	// Path is one of the Files of a worktree, or the UserFile. If it is a symbolic link, the target
	// is written.
	Path string
	// Backup is the directory for the record of what Install found and wrote. It is below the
	// repository's common directory or the user's.
	Backup string
	// User reports that it is the UserFile. It takes only hooks, not an MCP server.
	User bool
}

// Install adds our hooks to the settings file, which it creates if missing, and returns the number
// of our hooks in it. Other bytes stay unchanged; entries of an older version and of the existing
// tool are updated in place.
func (s Settings) Install() (n int, changed bool, err error) {
	if s.dialect().plugin {
		return s.installPlugin()
	}
	changed, err = s.file().Put(func(doc *jsonedit.Document, _ *jsonedit.Record) (made []string, err error) {
		in := s.dialect()
		d := settingsDocument{doc}
		if _, ok := d.Find("version"); in.form.version != "" && !ok {
			if err := d.Add(d.Root(), "version", in.form.version); err != nil {
				return nil, err
			}
		}
		for _, e := range in.entries {
			m, err := d.ensureEntry(&in, e)
			if err != nil {
				return nil, err
			}
			made = append(made, m...)
		}
		if in.agent.Name != agent.ClaudeCode().Name {
			return made, nil
		}
		for _, q := range askingHooks() {
			event, _ := d.Find("hooks", q.event)
			if !slices.ContainsFunc(handlers(event), func(h handler) bool { return h.tool == q.tool }) {
				continue
			}
			if _, err := d.ensureQuestion(q); err != nil {
				return nil, err
			}
		}
		m, err := d.Ensure([]string{"permissions", "deny"})
		if err != nil {
			return nil, err
		}
		made = append(made, m...)
		deny, _ := d.Find("permissions", "deny")
		if deniedAt(deny) >= 0 {
			return made, nil
		}
		return append(made, deniedRead), d.Add(deny, "", jsonedit.Quote(deniedRead))
	})
	if err != nil {
		return 0, false, err
	}
	return len(s.dialect().entries), changed, nil
}

// Uninstall removes all our entries: hooks, questions, status line. If the file has not changed since
// Install, its former content is restored, or the file is removed if it was created by Install.
// Otherwise only our entries are removed.
func (s Settings) Uninstall() (changed bool, err error) {
	if s.dialect().plugin {
		return s.uninstallPlugin()
	}
	return s.file().TakeAll()
}

// Check returns the number of our hooks in the file, and the events without one. It writes nothing.
func (s Settings) Check() (installed int, missing []string, err error) {
	if s.dialect().plugin {
		now, err := s.readPlugin()
		switch {
		case err != nil:
			return 0, nil, err
		case now == nil:
			return 0, []string{filepath.Base(s.Path)}, nil
		}
		return len(s.dialect().entries), nil, nil
	}
	d, err := s.file().Read()
	if err != nil {
		return 0, nil, err
	}
	for _, e := range s.dialect().entries {
		event, _ := d.Find("hooks", e.event)
		if slices.ContainsFunc(handlers(event), func(h handler) bool { return h.verb == e.verb }) {
			installed++
		} else if !slices.Contains(missing, e.event) {
			missing = append(missing, e.event)
		}
	}
	return installed, missing, nil
}

// Runs reports whether the file has a hook with the verb.
func (s Settings) Runs(verb string) bool {
	if s.dialect().plugin {
		n, _, err := s.Check()
		return err == nil && n > 0
	}
	d, err := s.file().Read()
	if err != nil {
		return false
	}
	hooks, _ := d.Find("hooks")
	return slices.ContainsFunc(jsonedit.MemberNames(hooks), func(event string) bool {
		groups, _ := d.Find("hooks", event)
		return slices.ContainsFunc(handlers(groups), func(h handler) bool { return Verb(s.Agent, h.verb) == verb })
	})
}

// Sweep removes temporary files of writers that were interrupted before the given time.
func (s Settings) Sweep(before time.Time) error { return s.file().Sweep(before) }

func (s Settings) dialect() dialect {
	d := dialectOf(s.Agent)
	if s.User {
		d.argument, d.servers = " "+UserArgument, serverList{}
	}
	return d
}

func (s Settings) file() jsonedit.File {
	d := s.dialect()
	return jsonedit.File{Path: s.Path, Backup: s.Backup, Holds: d.holdsOurs, Strip: d.strip}
}

// holdsOurs reports whether the document has an entry of ours or of the existing tool.
func (dl *dialect) holdsOurs(doc *jsonedit.Document) bool {
	d := settingsDocument{doc}
	hooks, _ := d.Find("hooks")
	return d.ownStatusLine() || dl.servers.holds(doc) || slices.ContainsFunc(jsonedit.MemberNames(hooks), func(event string) bool {
		groups, _ := d.Find("hooks", event)
		return len(handlers(groups)) > 0
	})
}

// strip removes all our entries, and the hooks of the existing tool. mayGo reports whether an
// object or array may be removed when it becomes empty.
func (dl *dialect) strip(doc *jsonedit.Document, rec jsonedit.Record, mayGo func(string) bool) error {
	d := settingsDocument{doc}
	hooks, _ := d.Find("hooks")
	for _, event := range jsonedit.MemberNames(hooks) {
		if err := d.removeEvent(event, func(handler) bool { return true }, mayGo); err != nil {
			return err
		}
	}
	deny, _ := d.Find("permissions", "deny")
	if at := deniedAt(deny); at >= 0 && mayGo(deniedRead) {
		if err := d.Remove(deny, at); err != nil {
			return err
		}
		if err := d.RemoveEmpty(mayGo, "permissions", "deny"); err != nil {
			return err
		}
	}
	if err := dl.servers.strip(doc, mayGo); err != nil {
		return err
	}
	return d.removeStatusLine(rec)
}
