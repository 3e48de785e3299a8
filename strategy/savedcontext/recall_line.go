package savedcontext

import (
	"context"

	"github.com/seed-3aff656d/entire/session"
)

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
