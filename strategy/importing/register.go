package importing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// register lists the session files that were imported, so that a later import doesn't store those again that
// have not changed. It is a cache: without it all are stored again, with the same result.
type register struct {
	// Rules is the version of the redaction rules with which they were stored.
	Rules int `json:"rules"`
	// Files are the stamps of the session files by the ids of the sessions.
	Files map[string]string `json:"files"`
}

// RegisterPath returns the path of the list of imported session files.
func registerPath(w *workspace.Workspace) string { return filepath.Join(w.RecordsDir(), "imported") }

// readRegister returns the register, an empty one if there is none that can be used.
func readRegister(w *workspace.Workspace) (register, error) {
	none := register{Rules: redact.RulesVersion, Files: map[string]string{}}
	data, err := disk.ReadFile(registerPath(w))
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("read the list of imported sessions: %w", err)
	}
	var r register
	if json.Unmarshal(data, &r) != nil || r.Rules != redact.RulesVersion || r.Files == nil {
		return none, nil //nolint:nilerr // it is written anew
	}
	return r, nil
}

// rememberMessages lists the messages of the imported sessions for those that continue with their history.
func (im *importer) rememberMessages() error {
	var keys []uint64
	for _, p := range im.sessions {
		if im.recorded[p.ID] {
			continue
		}
		for _, m := range p.messages {
			keys = append(keys, m.id)
		}
	}
	return im.w.AddImportedMessages(keys)
}

// remember adds sessions to the register.
func (im *importer) remember(sessions []int) error {
	for _, s := range sessions {
		p := im.sessions[s]
		im.register.Files[p.ID] = p.Stamp
	}
	data, err := json.Marshal(im.register)
	if err != nil {
		return fmt.Errorf("encode the list of imported sessions: %w", err)
	}
	if err := disk.MkdirAll(im.w.RecordsDir(), 0o700); err != nil {
		return err
	}
	return disk.WriteCache(registerPath(im.w), append(data, '\n'), 0o600)
}
