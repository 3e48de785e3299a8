package testkit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Branch is the branch of the committed checkpoints, Refs begins the names of the refs of checkpoints.
const (
	Branch = "refs/heads/entire/checkpoints/v1"
	Refs   = "refs/entire/checkpoints/"
	// Imported has the imported checkpoints.
	Imported = "refs/entire/imported"
)

// Stored is a checkpoint on the branch or in its ref.
type Stored struct {
	ID      string
	Root    string // path of its folder
	Summary Summary
	Slots   []Slot
	Files   map[string][]byte // path below the checkpoint's folder -> content
	RawRoot []byte
	// Imported reports that it was read from the ref of imported checkpoints.
	Imported bool
}

// Summary is the root metadata.json.
type Summary struct {
	CheckpointID string   `json:"checkpoint_id"`
	Strategy     string   `json:"strategy"`
	Branch       string   `json:"branch"`
	Count        int      `json:"checkpoints_count"`
	FilesTouched []string `json:"files_touched"`
	Sessions     []struct {
		Metadata, Transcript, Context, Prompt string
		ContentHash                           string `json:"content_hash"`
	} `json:"sessions"`
	TokenUsage *Tokens `json:"token_usage"`
	Forgotten  bool    `json:"forgotten"`
}

// Slot is one session of a checkpoint.
type Slot struct {
	Meta       SessionMeta
	Transcript string
	Prompts    []string
	Hash       string
	Segments   int
}

// SessionMeta is a session's metadata.json.
type SessionMeta struct {
	CheckpointID string   `json:"checkpoint_id"`
	SessionID    string   `json:"session_id"`
	Kind         string   `json:"kind"`
	Strategy     string   `json:"strategy"`
	CreatedAt    string   `json:"created_at"`
	FilesTouched []string `json:"files_touched"`
	Agent        string   `json:"agent"`
	Start        int      `json:"checkpoint_transcript_start"`
	End          int      `json:"checkpoint_transcript_end"`
	Lines        int      `json:"transcript_lines"`
	TokenUsage   *Tokens  `json:"token_usage"`
	SessionUsage *Tokens  `json:"session_token_usage"`
	// Attribution has the numeric members.
	Attribution Figures `json:"initial_attribution"`
}

// Figures are the numeric members of a stored object.
type Figures map[string]float64

// UnmarshalJSON reads the numbers.
func (f *Figures) UnmarshalJSON(data []byte) error {
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*f = Figures{}
	for name, value := range all {
		if n, ok := value.(float64); ok {
			(*f)[name] = n
		}
	}
	return nil
}

// Tokens are stored token counts.
type Tokens struct {
	Input         int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_tokens"`
	CacheRead     int `json:"cache_read_tokens"`
	Output        int `json:"output_tokens"`
	Calls         int `json:"api_call_count"`

	Subagents *Tokens `json:"subagent_tokens"`
}

// Usage returns the counts without the number of calls; zero for nil.
func (t *Tokens) Usage() Usage {
	if t == nil {
		return Usage{}
	}
	return Usage{Input: t.Input, CacheCreation: t.CacheCreation, CacheRead: t.CacheRead, Output: t.Output}
}

// Trailers returns the ids in the trailer block of a commit, as git parses it.
func (r *Repo) Trailers(rev string) []string {
	r.TB.Helper()
	return strings.Fields(r.Git("log", "-1", "--format=%(trailers:key=Entire-Checkpoint,valueonly)", rev, "--"))
}

// HasBranch reports whether there is a branch of checkpoints.
func (r *Repo) HasBranch() bool {
	r.TB.Helper()
	return r.TryGit("rev-parse", "-q", "--verify", Branch).Code == 0
}

// Stored reads all checkpoints on the branch, in refs and imported ones, by id.
func (r *Repo) Stored() map[string]*Stored {
	r.TB.Helper()
	found := map[string]*Stored{}
	if files := listFiles(r, Imported); files.Code == 0 {
		found = storedIn(r, Imported, files)
		for _, checkpoint := range found {
			checkpoint.Imported = true
		}
	}
	files := listFiles(r, Branch)
	if files.Code != 0 && r.HasBranch() {
		files = listFiles(r, Branch) // meanwhile a child of a hook made the branch
	}
	if files.Code == 0 {
		maps.Copy(found, storedIn(r, Branch, files))
	}
	for ref := range strings.FieldsSeq(r.Git("for-each-ref", "--format=%(refname)", Refs)) {
		id := path.Base(ref)
		if ref != Refs+id[len(id)-2:]+"/"+id {
			continue // another program's
		}
		files := listFiles(r, ref)
		if files.Code != 0 {
			r.TB.Fatalf("list the files of %s: %s", ref, files.Stderr)
		}
		checkpoint := &Stored{ID: id, Root: "/", Files: map[string][]byte{}}
		var names, objects []string
		for entry := range strings.SplitSeq(strings.TrimSuffix(files.Stdout, "\x00"), "\x00") {
			if info, name, ok := strings.Cut(entry, "\t"); ok {
				names, objects = append(names, name), append(objects, strings.Fields(info)[2])
			}
		}
		for i, content := range r.Objects(objects) {
			checkpoint.Files[names[i]] = content
		}
		if err := checkpoint.decode(); err != nil {
			r.TB.Fatalf("checkpoint %s: %v", id, err)
		}
		found[id] = checkpoint
	}
	return found
}

// StoredAt reads all checkpoints of a branch or commit, by id.
func (r *Repo) StoredAt(rev string) map[string]*Stored {
	r.TB.Helper()
	return storedIn(r, rev, listFiles(r, rev))
}

func listFiles(r *Repo, rev string) Result {
	r.TB.Helper()
	return r.TryGit("ls-tree", "-r", "-z", "--full-tree", rev)
}

// storedIn reads the checkpoints of a branch or commit from the list of its files.
func storedIn(r *Repo, rev string, files Result) map[string]*Stored {
	r.TB.Helper()
	if files.Code != 0 {
		r.TB.Fatalf("list the files of %s: %s", rev, files.Stderr)
	}
	found := map[string]*Stored{}
	pattern := regexp.MustCompile(`^([0-9a-f]{2})/([0-9a-f]{10})/(.+)$`)
	var names, objects []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(files.Stdout, "\x00"), "\x00") {
		info, path, ok := strings.Cut(entry, "\t")
		if !ok {
			continue
		}
		if path == "forgotten.json" {
			continue
		}
		if !pattern.MatchString(path) {
			r.TB.Fatalf("%s holds %q, which belongs to no checkpoint", rev, path)
		}
		names, objects = append(names, path), append(objects, strings.Fields(info)[2])
	}
	for i, content := range r.Objects(objects) {
		part := pattern.FindStringSubmatch(names[i])
		id := part[1] + part[2]
		if found[id] == nil {
			found[id] = &Stored{ID: id, Root: "/" + part[1] + "/" + part[2] + "/", Files: map[string][]byte{}}
		}
		found[id].Files[part[3]] = content
	}
	for _, checkpoint := range found {
		if err := checkpoint.decode(); err != nil {
			r.TB.Fatalf("checkpoint %s: %v", checkpoint.ID, err)
		}
	}
	return found
}

// Objects reads objects with one process.
func (r *Repo) Objects(ids []string) [][]byte {
	r.TB.Helper()
	if len(ids) == 0 {
		return nil
	}
	call := r.call("git", []string{"cat-file", "--batch"})
	call.Stdin = strings.Join(ids, "\n") + "\n"
	reader := bufio.NewReader(strings.NewReader(call.Must(r.TB) + "\n"))
	contents := make([][]byte, 0, len(ids))
	for _, id := range ids {
		header, err := reader.ReadString('\n')
		fields := strings.Fields(header)
		if err != nil || len(fields) != 3 {
			r.TB.Fatalf("read object %s: %q %v", id, header, err)
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil {
			r.TB.Fatalf("read object %s: %v", id, err)
		}
		content := make([]byte, size+1)
		if _, err := io.ReadFull(reader, content); err != nil {
			r.TB.Fatalf("read object %s: %v", id, err)
		}
		contents = append(contents, content[:size])
	}
	return contents
}

// Checkpoint reads the checkpoint of a commit, which must have one trailer.
func (r *Repo) Checkpoint(rev string) *Stored {
	r.TB.Helper()
	ids := r.Trailers(rev)
	if len(ids) != 1 {
		r.TB.Fatalf("%s has %d trailers %v, want one\n%s", rev, len(ids), ids, r.Git("log", "-1", "--format=%B", rev))
	}
	checkpoint := r.Stored()[ids[0]]
	if checkpoint == nil {
		r.TB.Fatalf("%s names checkpoint %s, which isn't stored (dangling trailer)", rev, ids[0])
	}
	return checkpoint
}

// decode reads the metadata and joins the transcripts.
func (c *Stored) decode() error {
	c.RawRoot = c.Files["metadata.json"]
	if err := json.Unmarshal(c.RawRoot, &c.Summary); err != nil {
		return fmt.Errorf("root metadata.json: %w", err)
	}
	for index := range c.Summary.Sessions {
		dir := strconv.Itoa(index) + "/"
		slot := Slot{Hash: string(c.Files[dir+"content_hash.txt"])}
		if err := json.Unmarshal(c.Files[dir+"metadata.json"], &slot.Meta); err != nil {
			return fmt.Errorf("%smetadata.json: %w", dir, err)
		}
		if prompts, ok := c.Files[dir+"prompt.txt"]; ok {
			slot.Prompts = strings.Split(string(prompts), "\n\n---\n\n")
		}
		segments := [][]byte{}
		for n := 0; ; n++ {
			name := dir + "full.jsonl"
			if n > 0 {
				name += fmt.Sprintf(".%03d", n)
			}
			segment, ok := c.Files[name]
			if !ok {
				break
			}
			segments = append(segments, segment)
		}
		slot.Segments = len(segments)
		slot.Transcript = string(bytes.Join(segments, []byte("\n")))
		c.Slots = append(c.Slots, slot)
	}
	return nil
}

// Slot returns the slot of a session, which must exist.
func (c *Stored) Slot(tb TB, session string) *Slot {
	tb.Helper()
	at := slices.IndexFunc(c.Slots, func(s Slot) bool { return s.Meta.SessionID == session })
	if at < 0 {
		tb.Fatalf("checkpoint %s has no session %s", c.ID, session)
	}
	return &c.Slots[at]
}

// Sessions returns the session ids in order of their slots.
func (c *Stored) Sessions() []string {
	ids := make([]string, 0, len(c.Slots))
	for _, slot := range c.Slots {
		ids = append(ids, slot.Meta.SessionID)
	}
	return ids
}
