package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// cmdImported adds what an import of a session would write, by git alone: a checkpoint of the session, one
// for HEAD, and HEAD's note. All lines of the file that HEAD adds are the session's, written for the prompt
// an hour before the commit. Several sessions may be imported for one commit.
func cmdImported(s *story, args []string) {
	if len(args) != 3 {
		s.ts.Fatalf("usage: imported session file prompt")
	}
	r, session, file, prompt := s.repo(), args[0], args[1], args[2]
	head := r.Git("rev-parse", "HEAD")
	committed, err := time.Parse(time.RFC3339, r.Git("log", "-1", "--format=%cI"))
	s.ts.Check(err)
	began := committed.Add(-time.Hour).UTC()
	content := r.Git("show", "HEAD:"+file) + "\n"
	call := "toolu_" + session[:8]
	lines := []any{
		map[string]any{
			"type": "user", "uuid": session + "-1", "sessionId": session, "cwd": r.Root(), "timestamp": began.Format(time.RFC3339),
			"message": map[string]any{"role": "user", "content": prompt},
		},
		map[string]any{
			"type": "assistant", "uuid": session + "-2", "sessionId": session, "cwd": r.Root(), "timestamp": began.Add(time.Minute).Format(time.RFC3339),
			"message": map[string]any{
				"id": "m-" + session, "role": "assistant", "model": "claude", "usage": map[string]int{"input_tokens": 5, "output_tokens": 6},
				"content": []any{map[string]any{"type": "tool_use", "id": call, "name": "Write", "input": map[string]string{"file_path": r.Path(file), "content": content}}},
			},
		},
	}
	var transcript strings.Builder
	for i, line := range lines {
		data, err := json.Marshal(line)
		s.ts.Check(err)
		if i > 0 {
			transcript.WriteString("\n")
		}
		transcript.Write(data)
	}
	one := importedSlot{session: session, prompt: prompt, transcript: transcript.String(), created: began.Add(time.Minute)}
	addImported(s, importedID("session", session), began, one)
	n := strings.Count(content, "\n")
	one.created, one.files = committed.UTC(), []string{file}
	one.attribution = map[string]any{
		"calculated_at": committed.UTC(), "agent_lines": n, "session_lines": n, "human_added": 0, "human_modified": 0, "human_removed": 0,
		"total_committed": n, "agent_percentage": 100, "agent_removed": 0, "agent_replaced": 0, "human_replaced": 0,
		"turns": []any{map[string]any{"title": prompt}}, "writers": []any{map[string]any{}, map[string]any{"call": call}},
		"files": []any{map[string]any{
			"path": file, "blob": r.Git("rev-parse", "HEAD:"+file), "agent_ranges": fmt.Sprintf("1-%d", n), "written": fmt.Sprintf("1=1-%d", n),
			"prints": printsOf(content), "patch": checkpoint.PatchID(bytes.SplitAfter([]byte(content), []byte("\n"))[:n]),
		}},
	}
	id := importedID("commit", head)
	addImported(s, id, began, one)
	note := fmt.Sprintf("Entire-Checkpoint: %s\nEntire-Derived: true\nEntire-Imported: true\n", id)
	r.GitInput(note, "notes", "--ref="+git.ImportedNotesRef, "add", "-f", "-F", "-", head)
}

// printsOf returns the fingerprints of all lines.
func printsOf(content string) string {
	var prints []uint32
	for line := range strings.Lines(content) {
		prints = append(prints, checkpoint.Print([]byte(line)))
	}
	return checkpoint.FormatPrints(prints)
}

// importedID is the id of the checkpoint of an imported session or of a commit.
func importedID(kind, name string) string {
	sum := sha256.Sum256([]byte("entire import " + kind + " " + name))
	return hex.EncodeToString(sum[:])[:12]
}

// importedSlot is a session in an imported checkpoint.
type importedSlot struct {
	session, prompt, transcript string
	created                     time.Time
	files                       []string
	attribution                 any
}

// addImported adds a session to a checkpoint on refs/entire/imported, in a commit.
func addImported(s *story, id string, began time.Time, add importedSlot) {
	r := s.repo()
	stored := map[string]*testkit.Stored{}
	tip := r.TryGit("rev-parse", "-q", "--verify", checkpoint.ImportedRef)
	if tip.Code == 0 {
		stored = r.StoredAt(checkpoint.ImportedRef)
	}
	dir := id[:2] + "/" + id[2:]
	files := map[string]string{}
	slots := 0
	if c := stored[id]; c != nil {
		slots = len(c.Slots)
		for name, data := range c.Files {
			files[name] = string(data)
		}
	}
	prefix := fmt.Sprintf("%d/", slots)
	files[prefix+"full.jsonl"] = add.transcript
	sum := sha256.Sum256([]byte(add.transcript))
	files[prefix+"content_hash.txt"] = "sha256:" + hex.EncodeToString(sum[:])
	files[prefix+"prompt.txt"] = add.prompt
	files[prefix+"context.md"] = "# Session Context\n\n## User Prompts\n\n### Prompt 1\n\n" + add.prompt + "\n\n"
	meta := map[string]any{
		"checkpoint_id": id, "session_id": add.session, "strategy": "manual-commit", "created_at": add.created, "checkpoints_count": 0,
		"files_touched": append([]string{}, add.files...), "agent": "Claude Code", "transcript_lines": 2, "kind": "imported",
	}
	if add.attribution != nil {
		meta["title"], meta["initial_attribution"] = add.prompt, add.attribution
	}
	touched := add.files
	if c := stored[id]; c != nil {
		touched = slices.Concat(touched, c.Summary.FilesTouched)
	}
	var sessions []any
	for i := range slots + 1 {
		root := fmt.Sprintf("/%s/%d/", dir, i)
		sessions = append(sessions, map[string]any{
			"metadata": root + "metadata.json", "transcript": root + "full.jsonl", "context": root + "context.md",
			"content_hash": root + "content_hash.txt", "prompt": root + "prompt.txt",
		})
	}
	slices.Sort(touched)
	files[prefix+"metadata.json"] = indented(s, meta)
	files["metadata.json"] = indented(s, map[string]any{
		"checkpoint_id": id, "strategy": "manual-commit", "checkpoints_count": 0, "files_touched": append([]string{}, slices.Compact(touched)...), "sessions": sessions,
	})
	var stream strings.Builder
	message := fmt.Sprintf("Checkpoint: %s\n\nEntire-Session: %s\nEntire-Strategy: manual-commit\nEntire-Agent: Claude Code\nEntire-Started: %s\n", id, add.session, began.Format(time.RFC3339))
	fmt.Fprintf(&stream, "commit %s\ncommitter Ada Tester <ada@example.com> 1790000000 +0000\ndata %d\n%s\n", checkpoint.ImportedRef, len(message), message)
	if tip.Code == 0 {
		fmt.Fprintf(&stream, "from %s\n", strings.TrimSpace(tip.Stdout))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&stream, "M 100644 inline %s/%s\ndata %d\n%s\n", dir, name, len(files[name]), files[name])
	}
	r.GitInput(stream.String(), "fast-import", "--quiet", "--force")
}

func indented(s *story, value any) string {
	data, err := json.MarshalIndent(value, "", "  ")
	s.ts.Check(err)
	return string(data) + "\n"
}
