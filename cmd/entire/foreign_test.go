package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// TestForeignRecords runs the reading commands on every checkpoint of repositories that other
// programs recorded, and compares their output with a reader that shares no code with them.
// ENTIRE_RECORDS names a folder of tar files with bare repositories; ENTIRE_BINARY names a
// build to test instead of this one. docs/foreign-records.md has the figures.
func TestForeignRecords(t *testing.T) {
	folder := os.Getenv("ENTIRE_RECORDS")
	if folder == "" {
		t.Skip("ENTIRE_RECORDS names no folder of records")
	}
	archives, err := filepath.Glob(filepath.Join(folder, "*.tar"))
	if err != nil || len(archives) == 0 {
		t.Skipf("no archives in %s", folder)
	}
	work := t.TempDir()
	binary := os.Getenv("ENTIRE_BINARY")
	if binary == "" {
		binary = filepath.Join(work, "programs", "entire")
		runIn(t, ".", "go", "build", "-o", filepath.Dir(binary)+string(os.PathSeparator), ".", "../entire-cli")
	}
	t.Setenv("HOME", work)
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar")
		runIn(t, work, "tar", "xf", archive)
		dir := filepath.Join(work, name)
		runIn(t, work, "git", "clone", "-q", "--no-checkout", name+".git", name)
		runIn(t, dir, "git", "branch", "-q", "entire/checkpoints/v1", "origin/entire/checkpoints/v1")
		f := foreign{t: t, dir: dir, binary: binary, counts: map[string]int{}}
		for _, id := range f.ids() {
			f.examine(id)
			f.resume(id)
		}
		f.rewind()
		t.Logf("%s: %d checkpoints, %v", name, len(f.ids()), f.counts)
		for _, wrong := range []string{"partly", "not shown", "failed", "raw wrong", "resume wrong", "rewind wrong"} {
			if os.Getenv("ENTIRE_BINARY") == "" && f.counts[wrong] > 0 {
				t.Errorf("%s: %d %s", name, f.counts[wrong], wrong)
			}
		}
	}
}

// foreign is one repository.
type foreign struct {
	t           *testing.T
	dir, binary string
	counts      map[string]int
	slots       map[string][]meta // by session; nil until needed
}

func runIn(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return out
}

func (f *foreign) git(args ...string) string { return string(runIn(f.t, f.dir, "git", args...)) }

func (f *foreign) ids() []string {
	var ids []string
	for line := range strings.Lines(f.git("ls-tree", "-d", "-r", "--name-only", "entire/checkpoints/v1")) {
		if p := strings.TrimSpace(line); strings.Count(p, "/") == 1 {
			ids = append(ids, strings.Replace(p, "/", "", 1))
		}
	}
	return ids
}

// shown is the part of the output of explain --json that is compared.
type shown struct {
	Checkpoints []struct {
		Commits  []struct{ OID string }
		Sessions []struct {
			ID, Intent string
			NothingNew bool `json:"nothing_new"`
			Transcript []struct{ Role, Tool, Text string }
		}
	}
}

func (f *foreign) entire(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(f.t.Context(), f.binary, args...)
	cmd.Dir = f.dir
	return cmd.Output()
}

// examine compares one checkpoint.
func (f *foreign) examine(id string) {
	for _, args := range [][]string{{"--no-pager"}, {"--no-pager", "--short"}, {"--no-pager", "--full"}} {
		if _, err := f.entire(append([]string{"explain", "-c", id}, args...)...); err != nil {
			f.counts["failed"]++
		}
	}
	out, err := f.entire("explain", "-c", id, "--json", "--search-all")
	var got shown
	if err != nil || json.Unmarshal(out, &got) != nil || len(got.Checkpoints) != 1 {
		f.counts["not shown"]++
		return
	}
	var wrong []string
	c := got.Checkpoints[0]
	parts := f.parts(id)
	if len(parts) != len(c.Sessions) {
		wrong = append(wrong, fmt.Sprintf("%d sessions of %d", len(c.Sessions), len(parts)))
	}
	for _, s := range c.Sessions {
		var tools, asked []string
		for _, item := range s.Transcript {
			switch item.Role {
			case "tool":
				tools = append(tools, item.Tool)
			case "user":
				asked = append(asked, item.Text)
			}
		}
		i := slices.IndexFunc(parts, func(p part) bool { return p.session == s.ID && slices.Equal(p.tools, tools) })
		if i < 0 { // a session may be stored twice
			i = slices.IndexFunc(parts, func(p part) bool { return p.session == s.ID })
		}
		if i < 0 {
			wrong = append(wrong, "unknown session "+s.ID)
			continue
		}
		wrong = append(wrong, parts[i].compare(tools, asked)...)
		switch strings.ToLower(s.Intent) {
		case "commit", "yes", "5", "comit", "then commit", "[request interrupted by user]":
			wrong = append(wrong, "title "+s.Intent)
		}
	}
	for oid := range strings.FieldsSeq(f.git("log", "--all", "--exclude=*entire/*", "--format=%H", "--fixed-strings", "--grep="+checkpoint.TrailerKey+": "+id)) {
		if !slices.ContainsFunc(c.Commits, func(c struct{ OID string }) bool { return c.OID == oid }) {
			wrong = append(wrong, "without commit "+oid)
		}
	}
	f.raw(id, c.Sessions[0].ID)
	if len(wrong) > 0 {
		f.counts["partly"]++
		f.t.Logf("%s: %s", id, strings.Join(wrong, "; "))
		return
	}
	f.counts["right"]++
}

// part is a session's part of a checkpoint, as read by the independent reader.
type part struct {
	session string
	tools   []string
	asked   []string
}

// compare returns the differences. Tool uses have to be the same; every prompt has to be shown.
func (p *part) compare(tools, asked []string) []string {
	var wrong []string
	if !slices.Equal(p.tools, tools) {
		wrong = append(wrong, fmt.Sprintf("%s: %d tool uses of %d", p.session, len(tools), len(p.tools)))
	}
	for _, text := range p.asked {
		if !slices.ContainsFunc(asked, func(s string) bool { return strings.Contains(s, text) }) {
			wrong = append(wrong, fmt.Sprintf("%s: without %.60q", p.session, text))
		}
	}
	return wrong
}

// meta is a slot's metadata.
type meta struct {
	SessionID string    `json:"session_id"`
	CreatedAt time.Time `json:"created_at"`
	Start     int       `json:"checkpoint_transcript_start"`
	OldStart  int       `json:"transcript_lines_at_start"`
	slot      string    // its directory
}

func (f *foreign) parts(id string) []part {
	var parts []part
	for _, m := range f.metas(id) {
		parts = append(parts, f.part(m, m.slot))
	}
	return parts
}

func (f *foreign) metas(id string) []meta {
	dir := "entire/checkpoints/v1:" + id[:2] + "/" + id[2:] + "/"
	var metas []meta
	for line := range strings.Lines(f.git("ls-tree", "-d", "--name-only", strings.TrimSuffix(dir, "/"))) {
		name := strings.TrimSpace(line)
		if strings.Trim(name, "0123456789") != "" {
			continue
		}
		m := meta{slot: dir + name}
		if err := json.Unmarshal([]byte(f.git("show", m.slot+"/metadata.json")), &m); err != nil {
			f.t.Fatal(err)
		}
		metas = append(metas, m)
	}
	return metas
}

// event is a line of a transcript.
type event struct {
	Type, UUID string
	Parent     *string `json:"parentUuid"`
	Meta       bool    `json:"isMeta"`
	Compact    bool    `json:"isCompactSummary"`
	Side       bool    `json:"isSidechain"`
	Message    struct {
		Model   string
		Content json.RawMessage
	}
}

// text joins the stored pieces of a transcript.
func (f *foreign) text(slot string) []byte {
	var text []byte
	names := strings.Fields(f.git("ls-tree", "--name-only", slot))
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, "full.jsonl") {
			text = append(append(text, f.git("show", slot+"/"+name)...), '\n')
		}
	}
	return text
}

// events reads the transcript of a slot; a document has none.
func (f *foreign) events(slot string) []event {
	text := f.text(slot)
	var events []event
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		var e event
		if len(bytes.TrimSpace(lines.Bytes())) > 0 {
			_ = json.Unmarshal(lines.Bytes(), &e) // a line that isn't an event stays empty
			events = append(events, e)
		}
	}
	return events
}

// afterPrevious returns the beginning of a part without a start: after the last event of the
// session's latest earlier checkpoint.
func (f *foreign) afterPrevious(m meta, slot string, events []event) int {
	if f.slots == nil {
		f.slots = map[string][]meta{}
		for _, id := range f.ids() {
			for _, other := range f.metas(id) {
				f.slots[other.SessionID] = append(f.slots[other.SessionID], other)
			}
		}
	}
	var previous meta
	for _, other := range f.slots[m.SessionID] {
		if other.CreatedAt.Before(m.CreatedAt) && other.CreatedAt.After(previous.CreatedAt) && other.slot[:len(other.slot)-1] != slot[:len(slot)-1] {
			previous = other
		}
	}
	if previous.slot == "" {
		return 0
	}
	last := ""
	for _, e := range f.events(previous.slot) {
		if e.UUID != "" {
			last = e.UUID
		}
	}
	return 1 + slices.IndexFunc(events, func(e event) bool { return last != "" && e.UUID == last })
}

func (f *foreign) part(m meta, slot string) part {
	p := part{session: m.SessionID}
	events := f.events(slot)
	start := max(m.Start, m.OldStart)
	if start == 0 {
		start = f.afterPrevious(m, slot, events)
	}
	if first := slices.IndexFunc(events, func(e event) bool { return e.UUID != "" }); start >= len(events) && first >= 0 {
		if parent := events[first].Parent; parent != nil && *parent != "" {
			start = 0 // only the part is stored
		}
	}
	uses := map[string]bool{}
	for _, e := range events[min(start, len(events)):] {
		p.take(e, uses)
	}
	var document struct {
		Messages []struct{ ToolCalls []struct{ Name string } }
	}
	if text := f.text(slot); json.Unmarshal(text, &document) == nil {
		for _, message := range document.Messages[min(start, len(document.Messages)):] {
			for _, call := range message.ToolCalls {
				p.tools = append(p.tools, cmp.Or(shownNames()[call.Name], call.Name))
			}
		}
	}
	return p
}

// shownNames are the names by which tools of Gemini CLI are shown.
func shownNames() map[string]string {
	return map[string]string{"write_file": "Write", "replace": "Edit", "read_file": "Read", "run_shell_command": "Bash"}
}

func (p *part) take(e event, uses map[string]bool) {
	var blocks []struct{ Type, Text, ID, Name string }
	var text string
	if json.Unmarshal(e.Message.Content, &blocks) != nil {
		_ = json.Unmarshal(e.Message.Content, &text) // other values have no text
	}
	if e.Side {
		return
	}
	for _, b := range blocks {
		if e.Type == "assistant" && b.Type == "tool_use" && e.Message.Model != "<synthetic>" && !uses[b.ID] {
			uses[b.ID] = true
			p.tools = append(p.tools, b.Name)
		}
	}
	if e.Type != "user" || e.Meta || e.Compact || text == "" || strings.HasPrefix(strings.TrimSpace(text), "<") ||
		strings.HasPrefix(text, "[Request") || strings.HasPrefix(text, "This session is being continued") {
		return
	}
	if text = strings.TrimSpace(text); !strings.Contains(text, "<system-reminder>") {
		p.asked = append(p.asked, text)
	}
}
