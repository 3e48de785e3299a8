package blame

import (
	"testing"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// FuzzRecord checks that for any content of metadata.json each line of a file has a kind of
// author, and only a session's line has a session.
func FuzzRecord(f *testing.F) {
	const head = `{"session_id":"s","initial_attribution":{"session_lines":2,"turns":[{"id":"t"}],"writers":[{},{"turn":7,"call":"c"}],"files":[{"path":"a","blob":"b",`
	for _, seed := range []string{
		head + `"agent_ranges":"1-2","written":"0=1;1=2"}]}}`,
		head + `"agent_ranges":"1-2","added_ranges":"1-4","unsure":"2,4","written":"9=1"}]}}`,
		head + `"agent_ranges":"2-1,999999999999","unsure":"-1","written":"-1=1","estimated":true}]}}`,
		`{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		meta, err := checkpoint.ParseSession(data)
		if err != nil {
			return
		}
		rec := &record{}
		rec.add(meta)
		rec.judge()
		at := &attributing{commits: map[git.OID]git.Commit{}}
		for name := range rec.slots[0].files {
			file, _ := rec.slots[0].bound(name, "b")
			all := []source{{slot: &rec.slots[0], file: file}}
			for line := range 20 {
				author := Author{Kind: Unknown}
				if !at.fromRecord(&author, all[0], line, all) {
					continue
				}
				if author.Kind != Agent && author.Kind != Person && author.Kind != Unknown || author.Kind != Agent && author.Session != "" {
					t.Fatalf("line %d is of %+v", line, author)
				}
			}
		}
	})
}
