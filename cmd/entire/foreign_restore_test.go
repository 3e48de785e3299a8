package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// raw compares the output of explain --raw-transcript with the stored transcript of the session
// that explain names first.
func (f *foreign) raw(id, session string) {
	out, err := f.entire("explain", "-c", id, "--raw-transcript")
	for _, m := range f.metas(id) {
		if stored := f.text(m.slot); m.SessionID == session && len(stored) > 0 && err == nil && slices.EqualFunc(lines(stored), lines(out), bytes.Equal) {
			f.counts["raw right"]++
			return
		}
	}
	if !slices.ContainsFunc(f.metas(id), func(m meta) bool { return m.SessionID == session && len(f.text(m.slot)) > 0 }) {
		f.counts["raw: none stored"]++
		return
	}
	f.wrong("raw", id, "differs from what is stored of "+session, err)
}

func (f *foreign) wrong(command, id, why string, err error) {
	f.counts[command+" wrong"]++
	f.t.Logf("%s %s: %s (%v)", command, id, why, err)
}

// lines returns the lines that are not blank.
func lines(text []byte) [][]byte {
	return slices.DeleteFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 })
}

// restorable returns the transcripts of a checkpoint that Claude Code can continue, by the
// session id that it uses: those in JSON Lines. If a session has several, it is the first.
func (f *foreign) restorable(id string) map[string][][]byte {
	dated := regexp.MustCompile(`^\d{4}-\d\d-\d\d-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`)
	found := map[string][][]byte{}
	for _, m := range f.metas(id) {
		text := f.text(m.slot)
		if len(text) == 0 || json.Valid(text) && len(lines(text)) > 1 {
			continue // none, or one document
		}
		session := m.SessionID
		if d := dated.FindStringSubmatch(session); d != nil {
			session = d[1]
		}
		if _, known := found[session]; !known {
			found[session] = lines(text)
		}
	}
	return found
}

// resumed is the part of the output of resume --json that is compared.
type resumed struct {
	Sessions []struct {
		ID      string `json:"session_id"`
		Path    string `json:"transcript_path"`
		Command string
	}
}

// resume restores the sessions of a checkpoint and compares the files with the stored ones: the
// same sessions, the same lines except paths, and a command with the agent's own id.
func (f *foreign) resume(id string) {
	want := f.restorable(id)
	out, err := f.entire("resume", "--json", "--force", id)
	var got resumed
	switch {
	case len(want) == 0 && err != nil:
		f.counts["resume: none stored"]++
		return
	case err != nil || json.Unmarshal(out, &got) != nil:
		f.wrong("resume", id, "failed", err)
		return
	case len(got.Sessions) != len(want):
		f.wrong("resume", id, "other sessions", nil)
		return
	}
	for _, s := range got.Sessions {
		text, err := os.ReadFile(s.Path)
		written := lines(text)
		switch stored, known := want[s.ID]; {
		case !known || s.Command != "claude -r "+s.ID || filepath.Base(s.Path) != s.ID+".jsonl":
			f.wrong("resume", id, s.Command+" "+s.Path, nil)
			return
		case err != nil || len(written) != len(stored):
			f.wrong("resume", id, "lines of "+s.ID, err)
			return
		case !slices.EqualFunc(stored, written, func(a, b []byte) bool { return json.Valid(a) == json.Valid(b) && uuidIn(a) == uuidIn(b) }):
			f.wrong("resume", id, "contents of "+s.ID, nil)
			return
		}
	}
	f.counts["resume right"]++
}

func uuidIn(line []byte) string {
	var e event
	_ = json.Unmarshal(line, &e) // a line that isn't an event has no UUID
	return e.UUID
}

// rewind compares the list of points with the trailers of the newest commits, and the
// transcripts that a point without files would write with the stored ones.
func (f *foreign) rewind() {
	const commits, most = "50", 20 // docs/formats/rewind.md
	out, err := f.entire("rewind", "--list")
	var points []struct {
		ID           string
		LogsOnly     bool   `json:"is_logs_only"`
		Condensation string `json:"condensation_id"`
	}
	if err != nil || json.Unmarshal(out, &points) != nil {
		f.wrong("rewind", "--list", "failed", err)
		return
	}
	var want []string
	stored := f.ids()
	for record := range strings.SplitSeq(f.git("log", "-z", "--format=%H%n%B", "-n", commits, "HEAD"), "\x00") {
		oid, message, _ := strings.Cut(record, "\n")
		last := ""
		for line := range strings.Lines(message) {
			if id, found := strings.CutPrefix(line, checkpoint.TrailerKey+": "); found {
				last = strings.TrimSpace(id)
			}
		}
		if slices.Contains(stored, last) && len(want) < most {
			want = append(want, oid+" "+last)
		}
	}
	var got []string
	for _, p := range points {
		got = append(got, p.ID+" "+p.Condensation)
		if p.LogsOnly {
			f.preview(p.ID, p.Condensation)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		f.wrong("rewind", "--list", strings.Join(got, ", ")+" instead of "+strings.Join(want, ", "), nil)
	}
}

// preview compares the transcripts that a rewind to a point would write with the stored ones.
func (f *foreign) preview(point, id string) {
	out, err := f.entire("rewind", "--to", point, "--preview", "--json")
	var plan struct {
		Checkpoint  string
		Transcripts []struct {
			ID string `json:"session_id"`
		}
	}
	want := f.restorable(id)
	if err != nil || json.Unmarshal(out, &plan) != nil || plan.Checkpoint != id || len(plan.Transcripts) != len(want) {
		f.wrong("rewind", point, "preview of "+id, err)
		return
	}
	for _, t := range plan.Transcripts {
		if want[t.ID] == nil {
			f.wrong("rewind", point, "unknown session "+t.ID, nil)
			return
		}
	}
	f.counts["rewind right"]++
}
