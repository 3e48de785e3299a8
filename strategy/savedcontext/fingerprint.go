package savedcontext

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/session"
)

// mark is what a checkpoint has of a session, small enough to be compared at
// every clear.
type mark struct {
	ID      string        `json:"id,omitempty"`
	At      time.Time     `json:"at"`
	Cause   recall.Cause  `json:"cause"`
	Status  recall.Status `json:"status"`
	Summary string        `json:"summary,omitempty"`
	// Head is the commit that was checked out, Prompts what had been asked.
	Head    string `json:"head,omitempty"`
	Prompts int    `json:"prompts"`
	// Files are the files' hashes and the lines added since the session's start.
	Files pathMap[fileMark] `json:"files,omitempty"`
}

// pathMap is a map by path, which keeps those that aren't UTF-8.
type pathMap[T any] map[string]T

// MarshalJSON encodes the map.
func (m pathMap[T]) MarshalJSON() ([]byte, error) {
	quoted := make(map[string]T, len(m)) // with keys of another type json would take them as they are
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

// fileMark is "hash+lines": the beginning of a file's hash, empty for one that
// is gone.
type fileMark string

func markOf(f recall.File) fileMark {
	const enough = 16
	return fileMark(f.Hash[:min(len(f.Hash), enough)] + "+" + strconv.Itoa(f.Added))
}

func (f fileMark) hash() string {
	hash, _, _ := strings.Cut(string(f), "+")
	return hash
}

func (f fileMark) added() int {
	_, added, _ := strings.Cut(string(f), "+")
	n, err := strconv.Atoi(added)
	if err != nil {
		return 0
	}
	return n
}

// mark is what a checkpoint made now has.
func (w *recollection) mark() mark {
	m := mark{
		At: w.r.Env.Now().UTC().Truncate(time.Second), Head: string(w.at.head.OID), Prompts: w.m.Digest.Prompts,
		Files: make(map[string]fileMark, len(w.m.Files)),
	}
	for path, f := range w.m.Files {
		m.Files[path] = markOf(f.File)
	}
	return m
}

// since counts the files that differ from an earlier mark, nil for none, and
// the lines that came in them.
func (m mark) since(old *mark) (files, added int) {
	for path, now := range m.Files {
		before, known := fileMark(""), false
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

// differs says whether there is more than an earlier mark has.
func (m mark) differs(old *mark) bool {
	if old == nil {
		return true
	}
	files, _ := m.since(old)
	return files > 0 || m.Head != old.Head || m.Prompts != old.Prompts
}

// ChangedSince counts the files of the session id that changed since its last
// context checkpoint that is kept, as the last hook saw them, and answers that
// checkpoint's id, empty if there is none. It starts no process and takes no
// lock.
func (r *Saver) ChangedSince(ctx context.Context, id string) (files int, checkpoint string) {
	if session.CheckID(id) != nil {
		return 0, ""
	}
	m, _, err := r.remembered(ctx, id)
	if err != nil {
		return 0, ""
	}
	now := mark{Files: make(map[string]fileMark, len(m.Files))}
	for path, f := range m.Files {
		now.Files[path] = markOf(f.File)
	}
	files, _ = now.since(m.Kept)
	if m.Kept != nil {
		checkpoint = m.Kept.ID
	}
	return files, checkpoint
}
