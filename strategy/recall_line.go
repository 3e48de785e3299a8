package strategy

import (
	"encoding/json"
	"strings"

	"github.com/seed-3aff656d/entire/session"
)

// ChangedSince counts the files of the session id that changed since its last
// context checkpoint that is kept, as the last hook saw them, and answers that
// checkpoint's id. It starts no process and takes no lock.
func (r *Recorder) ChangedSince(id string) (files int, checkpoint string) {
	if session.CheckID(id) != nil {
		return 0, ""
	}
	var known struct {
		Kept struct {
			ID    string            `json:"id"`
			Files map[string]string `json:"files"`
		} `json:"kept"`
		Files map[string]struct {
			Hash string `json:"hash"`
		} `json:"files"`
	}
	data, err := r.Sessions.Side(id, "recall").ReadAll()
	if err != nil || json.Unmarshal(data, &known) != nil {
		return 0, ""
	}
	const enough = 16
	for path, f := range known.Files {
		was, there := known.Kept.Files[path]
		hash, _, _ := strings.Cut(was, "+")
		if !there || hash != f.Hash[:min(len(f.Hash), enough)] {
			files++
		}
	}
	return files, known.Kept.ID
}
