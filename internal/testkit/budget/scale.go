package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// A record of few and one of many checkpoints, with four of each session. Both have the same
// files and equally long sessions.
const (
	fewCheckpoints, manyCheckpoints = 1000, 20_000
	partsOfSession                  = 4
)

// scaled returns the commands whose time must not grow with the record. "SESSION" is replaced by
// the id of a session in the middle of the history.
func scaled() []command {
	return []command{
		{name: "sessions", args: []string{"sessions", "--no-pager"}},
		{name: "resume of a session", args: []string{"resume", "SESSION", "--force"}},
		{name: "doctor", args: []string{"doctor"}},
		{name: "report --html -n 50", args: []string{"report", "--html", "-", "-n", "50"}},
	}
}

// whole returns the commands that read the whole record.
func whole() []command {
	return []command{
		{name: "report --html, all", args: []string{"report", "--html", "-"}},
		{name: "check, all", args: []string{"check", "main"}},
		{name: "rewind --list --all", args: []string{"rewind", "--list", "--all"}},
		{name: "sessions, all", args: []string{"sessions", "--all", "--json"}},
	}
}

// scaleRows returns the rows of scale: for each scaled command its time compared with the short
// record, and its peak memory; for each whole command its time and peak memory on the long record;
// for the first index the speed, the memory and the size of its file.
func scaleRows() []*row {
	var rows []*row
	for _, c := range scaled() {
		rows = append(rows,
			&row{Name: fmt.Sprintf("%s, %d checkpoints instead of %d", c.name, manyCheckpoints, fewCheckpoints), Unit: perOne, Budget: 1.5, Command: true},
			&row{Name: fmt.Sprintf("%s, %d checkpoints, memory", c.name, manyCheckpoints), Unit: perMega, Budget: 100, Command: true})
	}
	for _, c := range append(whole(), command{name: "first index"}) {
		rows = append(rows,
			&row{Name: fmt.Sprintf("%s, %d checkpoints", c.name, manyCheckpoints), Unit: perVersion, Command: true},
			&row{Name: fmt.Sprintf("%s, %d checkpoints, memory", c.name, manyCheckpoints), Unit: perMega, Budget: 150, Command: true})
	}
	return append(rows, &row{Name: fmt.Sprintf("file of the index, %d checkpoints", manyCheckpoints), Unit: perMega, Command: true})
}

// scale compares a record of manyCheckpoints with one of fewCheckpoints. Each command runs once
// before it is measured.
func scale(b *bench, rows []*row) {
	talk := b.talk
	few := b.enabled(history{name: fmt.Sprintf("scale-%d-%d", fewCheckpoints, talk), files: 400, checkpoints: fewCheckpoints, talk: talk, parts: partsOfSession}, "few")
	many := b.enabled(history{name: fmt.Sprintf("scale-%d-%d", manyCheckpoints, talk), files: 400, checkpoints: manyCheckpoints, talk: talk, parts: partsOfSession}, "many")
	b.slim()
	measure := func(dir string, c command) sample {
		args := slices.Clone(c.args)
		for i, arg := range args {
			if arg == "SESSION" {
				args[i] = b.sessionOf(dir, middleOf(dir == many))
			}
		}
		s := b.reads(dir, command{args: args})
		b.Must(os.RemoveAll(filepath.Join(dir, ".git", "entire-sessions")))
		return s
	}
	memory := func(r *row, s sample) { r.value = max(r.value, float64(s.kib)/mib) }
	at := 2 * len(scaled())
	last := rows[len(rows)-3:]
	first := command{args: []string{"log", "--no-pager", "-n", "1"}}
	measure(few, first)
	index := measure(many, first)
	last[0].add(index, b.version())
	memory(last[1], index)
	if info, err := os.Stat(filepath.Join(many, ".git", "entire", "index.db")); err == nil {
		last[2].value = float64(info.Size()) / (mib << 10)
	}
	for i, c := range scaled() {
		for n := range b.runs + 1 {
			little, much := measure(few, c), measure(many, c)
			if n == 0 {
				continue
			}
			r := rows[2*i]
			r.add(much, 0)
			r.base, r.baseCPU = append(r.base, little.ms), append(r.baseCPU, little.cpu)
			memory(rows[2*i+1], much)
		}
	}
	for i, c := range whole() {
		if !b.rows.MatchString(rows[at+2*i].Name) && !b.rows.MatchString(rows[at+2*i+1].Name) {
			continue // it takes long
		}
		s := measure(many, c)
		rows[at+2*i].add(s, b.version())
		memory(rows[at+2*i+1], s)
	}
	b.Must(os.RemoveAll(few))
	b.Must(os.RemoveAll(many))
}

func middleOf(many bool) string {
	if many {
		return fmt.Sprintf("main~%d", manyCheckpoints/2)
	}
	return fmt.Sprintf("main~%d", fewCheckpoints/2)
}

// sessionOf returns the session of a commit's checkpoint.
func (b *bench) sessionOf(dir, commit string) string {
	id := strings.TrimSpace(b.git(dir, "log", "-1", "--format=%(trailers:key=Entire-Checkpoint,valueonly)", commit))
	text := b.git(dir, "show", "entire/checkpoints/v1:"+id[:2]+"/"+id[2:]+"/0/metadata.json")
	_, text, _ = strings.Cut(text, `"session_id":"`)
	text, _, _ = strings.Cut(text, `"`)
	return text
}

// sessions imports a history in which every commit has a checkpoint, as this program writes them:
// each has the whole transcript of its session until then.
func (im *importer) sessions(h history) {
	all := make(map[string]string, h.files)
	for i := range h.files {
		all[h.path(i)] = im.source()
	}
	tip := im.commit("refs/heads/main", "initial import", all, 0)
	shadow := im.commit("refs/heads/entire/checkpoints/v1", "Initialize metadata branch", nil, 0)
	var s importedSession
	for n := range h.checkpoints {
		if n%h.parts == 0 {
			id := testkit.UUID(h.name, n)
			s = importedSession{id: id, writer: &writer{rng: im.rng, session: id, cwd: "/repo"}}
		}
		s.writer.now = since(time.Unix(im.at, 0))
		id := fmt.Sprintf("%012x", im.rng.Uint64()>>16)
		path := h.path(im.rng.IntN(h.files))
		changed := map[string]string{path: im.source()}
		start := s.lines
		prompt := fmt.Sprintf("Change the %s of part %d", strings.ReplaceAll(s.writer.text(40), `\n`, " "), n)
		s.prompts = append(s.prompts, prompt)
		s.say(s.writer.prompt(prompt))
		s.say(s.writer.call("Edit", `"file_path":"/repo/`+path+`","old_string":"`+s.writer.text(100)+`","new_string":"`+s.writer.text(150)+`"`, 200))
		for from := s.text.Len(); s.text.Len() < from+h.talk; {
			s.say(s.writer.step())
		}
		shadow = im.store(storedSession{
			id: id, session: s.id, paths: []string{path}, created: time.Unix(im.at+50, 0), //nolint:mnd // within the turn
			transcript: strings.TrimSuffix(s.text.String(), "\n"), prompts: strings.Join(s.prompts, "\n\n---\n\n"), context: "# Session Context\n",
			more: testkit.Object{"checkpoint_transcript_start", start, "transcript_lines", s.lines},
		}, shadow)
		tip = im.commit("refs/heads/main", fmt.Sprintf("change %d\n\nEntire-Checkpoint: %s", n, id), changed, tip)
	}
}

// importedSession is a session of which checkpoints are imported.
type importedSession struct {
	id      string
	writer  *writer
	text    bytes.Buffer
	lines   int
	prompts []string
}

func (s *importedSession) say(text string) {
	s.text.WriteString(text)
	s.lines += strings.Count(text, "\n")
}
