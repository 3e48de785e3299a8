package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/tailscale/hujson"
)

// Settings is one of the agent's settings files and its record.
type Settings struct {
	// Path is .claude/settings.json or .claude/settings.local.json of a
	// worktree. A symbolic link is written through.
	Path string
	// Backup is the directory, below the repository's common directory, for
	// the record of what Install found and wrote.
	Backup string
}

// SettingsError is a settings file that can't be edited safely. The file is
// untouched.
type SettingsError struct {
	Path         string
	Line, Column int
	Text         string
}

func (e *SettingsError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s\nhint: mend the file and run the command again; nothing in it was changed",
		e.Path, e.Line, e.Column, e.Text)
}

// errChanged means that somebody wrote the file while we worked on it.
var errChanged = errors.New("the file is being changed by another program")

// attempts is how often an edit begins anew when somebody else writes the file
// at the same moment.
const attempts = 5

// Install puts our hooks into the settings file, which it makes if there is
// none, and returns how many are there now. Bytes that aren't ours stay as
// they are; entries of an older version and of the existing tool are brought
// up to date in place.
func (s Settings) Install() (n int, changed bool, err error) {
	err = s.retry(func() (err error) {
		changed, err = s.installOnce()
		return err
	})
	if err != nil {
		return 0, false, err
	}
	return len(entries()), changed, nil
}

// Uninstall takes our hooks out again. If nobody else has changed the file
// since Install it gets its former bytes, or goes if there was none; else only
// our entries go.
func (s Settings) Uninstall() (changed bool, err error) {
	err = s.retry(func() (err error) {
		changed, err = s.uninstallOnce()
		return err
	})
	return changed, err
}

// Check returns how many of our hooks are in the file, and the events that
// have none. It writes nothing.
func (s Settings) Check() (installed int, missing []string, err error) {
	f, err := readTarget(s.Path)
	if err != nil {
		return 0, nil, err
	}
	d, err := s.document(f)
	if err != nil {
		return 0, nil, err
	}
	for _, e := range entries() {
		event, _ := d.find("hooks", e.event)
		if slices.ContainsFunc(handlers(event), func(h handler) bool { return h.verb == e.verb }) {
			installed++
		} else if !slices.Contains(missing, e.event) {
			missing = append(missing, e.event)
		}
	}
	return installed, missing, nil
}

func (s Settings) retry(edit func() error) error {
	var err error
	for range attempts {
		if err = edit(); !errors.Is(err, errChanged) {
			break
		}
	}
	if err != nil {
		if _, ok := errors.AsType[*SettingsError](err); ok {
			return err
		}
		return fmt.Errorf("edit %s: %w", s.Path, err)
	}
	return nil
}

// document reads a settings file; an empty or missing one is an empty object.
func (s Settings) document(f target) (*document, error) {
	text := bytes.TrimPrefix(f.data, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	d, err := parseDocument(text)
	if err != nil {
		return nil, s.placed(err)
	}
	return d, nil
}

func (s Settings) placed(err error) error {
	if at, ok := errors.AsType[*positionError](err); ok {
		return &SettingsError{Path: s.Path, Line: at.line, Column: at.column, Text: at.text}
	}
	return err
}

// withMark gives an edited text the byte order mark that the file had.
func withMark(f target, text []byte) []byte {
	if bytes.HasPrefix(f.data, []byte(byteOrderMark)) {
		return append([]byte(byteOrderMark), text...)
	}
	return text
}

func (s Settings) installOnce() (bool, error) {
	f, err := readTarget(s.Path)
	if err != nil {
		return false, err
	}
	d, err := s.document(f)
	if err != nil {
		return false, err
	}
	foreign := !holdsOurs(d)
	made, err := installEntries(d)
	if err != nil {
		return false, s.placed(err)
	}
	text := withMark(f, d.text)
	if f.exists && bytes.Equal(text, f.data) {
		return false, nil
	}
	rec, known, err := s.readRecord()
	if err != nil {
		return false, err
	}
	if !known {
		rec.MadeDir = !f.dirExists
	}
	rec.note(f, text, foreign)
	rec.Made = slices.Compact(slices.Sorted(slices.Values(append(rec.Made, made...))))
	if err := s.writeRecord(rec); err != nil {
		return false, err
	}
	return true, f.replace(text)
}

// holdsOurs tells whether a hook of ours or of the existing tool is there.
func holdsOurs(d *document) bool {
	hooks, _ := d.find("hooks")
	return slices.ContainsFunc(memberNames(hooks), func(event string) bool {
		groups, _ := d.find("hooks", event)
		return len(handlers(groups)) > 0
	})
}

func (s Settings) uninstallOnce() (bool, error) {
	f, err := readTarget(s.Path)
	if err != nil {
		return false, err
	}
	rec, known, err := s.readRecord()
	if err != nil {
		return false, err
	}
	changed, err := s.takeOut(f, rec, known)
	if err != nil {
		return false, err
	}
	if rec.MadeDir {
		if err := f.removeDir(); err != nil {
			return changed, err
		}
	}
	return changed, s.removeRecord()
}

func (s Settings) takeOut(f target, rec record, known bool) (bool, error) {
	if !f.exists {
		return false, nil
	}
	if rec.Exact && rec.After == digest(f.data) {
		if rec.Absent {
			return true, f.remove()
		}
		return true, f.replace(rec.Before)
	}
	d, err := s.document(f)
	if err != nil {
		return false, err
	}
	before := string(d.text)
	if err := removeEntries(d, rec.Made, known && !rec.Adopted); err != nil {
		return false, s.placed(err)
	}
	if rec.Absent && isEmptyObject(d) {
		return true, f.remove()
	}
	if string(d.text) == before {
		return false, nil
	}
	return true, f.replace(withMark(f, d.text))
}

// isEmptyObject tells whether nothing but an empty object is left: no member
// and no comment.
func isEmptyObject(d *document) bool {
	root, ok := d.root.Value.(*hujson.Object)
	return ok && len(root.Members) == 0 && string(bytes.Join(bytes.Fields(d.text), nil)) == "{}"
}

// ignoreMissing drops the error for a file that isn't there.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
