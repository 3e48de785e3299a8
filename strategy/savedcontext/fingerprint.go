package savedcontext

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// fingerprint is the short form of a checkpoint of a session, small enough to be compared at
// every clear.
type fingerprint struct {
	ID      string        `json:"id,omitempty"`
	At      time.Time     `json:"at"`
	Cause   recall.Cause  `json:"cause"`
	Status  recall.Status `json:"status"`
	Summary string        `json:"summary,omitempty"`
	// Head is the commit that was checked out, Prompts the number of prompts until then.
	Head    string `json:"head,omitempty"`
	Prompts int    `json:"prompts"`
	// Files are the files' hashes and the lines added since the session's start.
	Files pathMap[fileFingerprint] `json:"files,omitempty"`
}

// pathMap is a map by path whose JSON preserves paths that aren't UTF-8.
type pathMap[T any] map[string]T

// MarshalJSON encodes the map.
func (m pathMap[T]) MarshalJSON() ([]byte, error) {
	quoted := make(map[string]T, len(m)) // json encodes keys of any string type without their MarshalText
	for path, v := range m {
		name, err := session.Path(path).MarshalText()
		if err != nil {
			return nil, err
		}
		quoted[string(name)] = v
	}
	return json.Marshal(quoted)
}

// UnmarshalJSON decodes the map.
func (m *pathMap[T]) UnmarshalJSON(data []byte) error {
	var quoted map[string]T
	if err := json.Unmarshal(data, &quoted); err != nil {
		return err
	}
	*m = make(pathMap[T], len(quoted))
	for name, v := range quoted {
		var path session.Path
		if err := path.UnmarshalText([]byte(name)); err != nil {
			return err
		}
		(*m)[string(path)] = v
	}
	return nil
}

// fileFingerprint is "hash+lines": the beginning of a file's hash, empty for a removed file,
// and the number of added lines.
type fileFingerprint string

func fileFingerprintOf(f recall.File) fileFingerprint {
	const enough = 16
	return fileFingerprint(f.Hash[:min(len(f.Hash), enough)] + "+" + strconv.Itoa(f.Added))
}

func (f fileFingerprint) hash() string {
	hash, _, _ := strings.Cut(string(f), "+")
	return hash
}

func (f fileFingerprint) added() int {
	_, added, _ := strings.Cut(string(f), "+")
	n, err := strconv.Atoi(added)
	if err != nil {
		return 0
	}
	return n
}

// fingerprint returns the fingerprint of the current context.
func (cc *contextComparer) fingerprint() fingerprint {
	m := fingerprint{
		At: cc.w.Env.Now().UTC().Truncate(time.Second), Head: string(cc.obs.head.OID), Prompts: cc.m.Digest.Prompts,
		Files: make(map[string]fileFingerprint, len(cc.m.Files)),
	}
	for path, f := range cc.m.Files {
		m.Files[path] = fileFingerprintOf(f.File)
	}
	return m
}

// since counts the files that differ from an earlier fingerprint, nil for none,
// and the lines added to them.
func (f fingerprint) since(old *fingerprint) (files, added int) {
	for path, now := range f.Files {
		before, known := fileFingerprint(""), false
		if old != nil {
			before, known = old.Files[path]
		}
		if known && before.hash() == now.hash() {
			continue
		}
		files++
		added += max(now.added()-before.added(), 0)
	}
	return files, added
}

// differs reports whether f differs from an earlier fingerprint, nil for none.
func (f fingerprint) differs(old *fingerprint) bool {
	if old == nil {
		return true
	}
	files, _ := f.since(old)
	return files > 0 || f.Head != old.Head || f.Prompts != old.Prompts
}

// ChangedSince counts the files of the session id that changed since its last
// saved context that is kept, as the last hook recorded them, and returns that
// checkpoint's id, empty if there is none. It starts no process and takes no
// lock.
func ChangedSince(ctx context.Context, w *workspace.Workspace, id string) (files int, checkpoint string) {
	if session.CheckID(id) != nil {
		return 0, ""
	}
	m, _, err := remembered(ctx, w, id)
	if err != nil {
		return 0, ""
	}
	now := fingerprint{Files: make(map[string]fileFingerprint, len(m.Files))}
	for path, f := range m.Files {
		now.Files[path] = fileFingerprintOf(f.File)
	}
	files, _ = now.since(m.Kept)
	if m.Kept != nil {
		checkpoint = m.Kept.ID
	}
	return files, checkpoint
}
