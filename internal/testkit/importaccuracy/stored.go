package importaccuracy

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

const recordBranch = "entire/checkpoints/v1"

// stored is a session's part of a checkpoint.
type stored struct {
	checkpoint, session string
	created             time.Time
	lines               []string // of the transcript
}

// storedSessions reads all checkpoints of the branch.
func storedSessions(repo *testkit.Repo) []stored {
	var names []string
	for name := range strings.SplitSeq(repo.Git("ls-tree", "-r", "-z", "--name-only", recordBranch), "\x00") {
		base := path.Base(name)
		if strings.Count(name, "/") == 3 && (base == "metadata.json" || strings.HasPrefix(base, "full.jsonl")) {
			names = append(names, name)
		}
	}
	slices.Sort(names) // the parts of a transcript are in order
	texts := blobs(repo, names)
	byFolder := map[string]*stored{}
	var folders []string
	for i, name := range names {
		folder := path.Dir(name)
		if byFolder[folder] == nil {
			byFolder[folder] = &stored{checkpoint: strings.Replace(path.Dir(folder), "/", "", 1)}
			folders = append(folders, folder)
		}
		one := byFolder[folder]
		if path.Base(name) != "metadata.json" {
			one.lines = append(one.lines, strings.Split(strings.TrimRight(texts[i], "\n"), "\n")...)
			continue
		}
		var meta struct {
			SessionID string    `json:"session_id"`
			CreatedAt time.Time `json:"created_at"`
		}
		if err := json.Unmarshal([]byte(texts[i]), &meta); err != nil {
			repo.TB.Fatalf("%s: %v", name, err)
		}
		one.session, one.created = undated(meta.SessionID), meta.CreatedAt
	}
	all := make([]stored, 0, len(folders))
	for _, folder := range folders {
		all = append(all, *byFolder[folder])
	}
	slices.SortStableFunc(all, func(a, b stored) int { return a.created.Compare(b.created) })
	return all
}

// blobs returns the contents of files of the branch.
func blobs(repo *testkit.Repo, names []string) []string {
	var input strings.Builder
	for _, name := range names {
		fmt.Fprintf(&input, "%s:%s\n", recordBranch, name)
	}
	out := repo.GitInput(input.String(), "cat-file", "--batch") + "\n"
	texts := make([]string, 0, len(names))
	for range names {
		head, rest, _ := strings.Cut(out, "\n")
		var oid, kind string
		var size int
		if _, err := fmt.Sscanf(head, "%s %s %d", &oid, &kind, &size); err != nil {
			repo.TB.Fatalf("cat-file: %q: %v", head, err)
		}
		texts = append(texts, rest[:size])
		out = rest[size+1:]
	}
	return texts
}

// fullest joins the transcripts that the checkpoints have of each session. A later checkpoint has all
// lines of an earlier one, or only those after it.
func fullest(all []stored) map[string][]string {
	sessions := map[string][]string{}
	seen := map[string]bool{}
	for _, part := range all {
		if json.Valid([]byte(strings.Join(part.lines, "\n"))) && len(part.lines) > 1 { // a document, whose lines may be equal
			sessions[part.session] = part.lines
			continue
		}
		for _, text := range part.lines {
			var event struct {
				UUID string `json:"uuid"`
			}
			_ = json.Unmarshal([]byte(text), &event) // a line that isn't an event has no identifier
			key := part.session + " " + event.UUID
			if event.UUID == "" {
				key += text
			}
			if strings.TrimSpace(text) != "" && !seen[key] {
				seen[key] = true
				sessions[part.session] = append(sessions[part.session], text)
			}
		}
	}
	return sessions
}
