package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// pastWork is the work of sessions that nothing recorded: the commits of a repository, and session
// files in a home, whose edits have the lines of the commits.
type pastWork struct {
	name              string
	sessions, commits int
	bytes             int // of all session files
}

func muchPast() pastWork {
	return pastWork{name: "1 GB", sessions: 300, commits: 2000, bytes: 1 << 30}
}

func manyPast() pastWork {
	return pastWork{name: "10,000 files", sessions: 10_000, commits: 2000, bytes: 100 << 20}
}

// pastPlace is the folder in which the sessions worked.
const pastPlace = "/home/somebody/project"

// pastRowsOfWork is the number of rows of each work.
const pastRowsOfWork = 6

// pastRows returns the rows of each work: time, processor time and memory of the first import, and of one
// with nothing new. The budget of the time holds on two processors without other work.
func pastRows() []*row {
	works := []pastWork{muchPast(), manyPast()}
	rows := make([]*row, 0, pastRowsOfWork*len(works))
	for _, p := range works {
		rows = append(rows,
			&row{Name: "import, " + p.name, Unit: perSecond, Budget: 30, Command: true},
			&row{Name: "import, " + p.name + ", processor time", Unit: perSecond, Budget: 60, Command: true},
			&row{Name: "import, " + p.name + ", memory", Unit: perMega, Budget: 200, Command: true},
			&row{Name: "import again, " + p.name, Unit: perSecond, Command: true},
			&row{Name: "import again, " + p.name + ", processor time", Unit: perSecond, Command: true},
			&row{Name: "import again, " + p.name + ", memory", Unit: perMega, Budget: 200, Command: true})
	}
	return rows
}

func pastWorks(b *bench, rows []*row) {
	for i, p := range []pastWork{muchPast(), manyPast()} {
		own := rows[pastRowsOfWork*i : pastRowsOfWork*(i+1)]
		if !slices.ContainsFunc(own, func(r *row) bool { return b.rows.MatchString(r.Name) }) {
			continue // it takes long
		}
		b.importPast(p, own)
	}
}

// importPast imports twice.
func (b *bench) importPast(p pastWork, rows []*row) {
	name := fmt.Sprintf("past-%d-%d", p.sessions, p.bytes)
	if b.samples != "" {
		name += "-samples"
	}
	var edits []pastEdit
	repository := b.template(name+"-repository", func(dir string) { b.imported(dir, func(im *importer) { edits = im.past(p) }) })
	sessions := b.template(name+"-sessions", func(dir string) {
		if edits == nil { // the repository is there: the same edits again
			edits = (&importer{bufio.NewWriter(&bytes.Buffer{}), rand.New(rand.NewPCG(1, 1)), 0, firstCommit}).past(p) //nolint:gosec // as when it was made
		}
		commits := strings.Fields(b.git(repository, "rev-list", "--reverse", "main"))[1:]
		b.writePast(dir, p, edits, commits)
	})
	dir, home := filepath.Join(b.work, "past"), filepath.Join(b.work, "past home")
	b.Must(os.MkdirAll(filepath.Join(home, ".claude", "projects"), 0o700))
	testkit.Call{Dir: b.work, Env: b.env, Name: "cp", Args: []string{"-a", repository, dir}}.Must(b)
	testkit.Call{Dir: b.work, Env: b.env, Name: "cp", Args: []string{"-al", sessions, filepath.Join(home, ".claude", "projects", testkit.Slug(pastPlace))}}.Must(b)
	testkit.Call{Dir: b.work, Env: b.env, Name: "cp", Args: []string{filepath.Join(b.home, ".gitconfig"), home}}.Must(b)
	b.git(dir, "status", "--porcelain")
	b.slim()
	call := testkit.Call{
		Dir: dir, Env: b.env.Without("ENTIRE_TEST_CLAUDE_PROJECT_DIR").With("HOME=" + home), Name: "entire",
		Args: []string{"import", "--json", "--from", pastPlace},
	}
	for i := range 2 {
		s := b.time(call)
		b.quiet()
		const second = 1000 // ms
		own := rows[pastRowsOfWork/2*i:]
		own[0].value, own[1].value, own[2].value = s.ms/second, s.cpu/second, float64(s.kib)/mib
		if out, err := os.ReadFile(filepath.Join(b.work, "out")); i == 0 && err == nil {
			b.Logf("%s: %d commits linked", p.name, bytes.Count(out, []byte(`"evidence"`)))
		}
	}
	b.Must(os.RemoveAll(dir))
	b.Must(os.RemoveAll(home))
}

// pastEdit is an edit of a session, which a commit has.
type pastEdit struct {
	session     int
	path        string
	old         []string // the lines before
	at          int      // the index at which lines are added
	added       []string
	time        time.Time
	isCommitted bool // by the session itself
}

// past imports the commits, and returns their edits.
func (im *importer) past(p pastWork) []pastEdit {
	const files = 400
	w := writer{rng: im.rng}
	line := func() string {
		return fmt.Sprintf("\tresult = append(result, %s)", strings.ReplaceAll(strings.TrimSpace(w.text(30+im.rng.IntN(30))), `\n`, " "))
	}
	contents := map[string][]string{}
	paths := make([]string, files)
	all := make(map[string]string, files)
	for i := range paths {
		paths[i] = fmt.Sprintf("pkg%02d/f%03d.go", i%20, i)
		for range 60 + im.rng.IntN(140) {
			contents[paths[i]] = append(contents[paths[i]], line())
		}
		all[paths[i]] = strings.Join(contents[paths[i]], "\n") + "\n"
	}
	tip := im.commit("refs/heads/main", "initial import", all, 0)
	edits := make([]pastEdit, 0, p.commits)
	for n := range p.commits {
		path := paths[im.rng.IntN(files)]
		old := contents[path]
		e := pastEdit{session: n * p.sessions / p.commits, path: path, old: old, at: im.rng.IntN(len(old)), isCommitted: im.rng.IntN(10) < 4}
		for range 3 + im.rng.IntN(10) {
			e.added = append(e.added, line())
		}
		contents[path] = slices.Concat(old[:e.at], e.added, old[e.at:])
		im.at += 3000
		e.time = time.Unix(im.at, 0)
		tip = im.commit("refs/heads/main", fmt.Sprintf("change %d", n), map[string]string{path: strings.Join(contents[path], "\n") + "\n"}, tip)
		edits = append(edits, e)
	}
	return edits
}

// writePast writes the session files.
func (b *bench) writePast(dir string, p pastWork, edits []pastEdit, commits []string) {
	b.Must(os.Mkdir(dir, 0o700))
	samples := b.sampleLines()
	size := p.bytes / p.sessions
	next := 0
	for n := range p.sessions {
		id := testkit.UUID("past", p.name, n)
		own := 0
		for next+own < len(edits) && edits[next+own].session == n {
			own++
		}
		clock := time.Unix(firstCommit, 0).Add(time.Duration(n) * time.Hour)
		if own > 0 {
			clock = edits[next].time.Add(-20 * time.Minute) //nolint:mnd // the session begins before its first edit
		}
		s := pastSession{
			writer: newWriter(uint64(n), id, pastPlace, nil), samples: samples, number: n,
		}
		s.now = func() time.Time { clock = clock.Add(time.Second); return clock }
		if len(samples) > 0 {
			s.sample = s.rng.IntN(len(samples))
		}
		share := size / (own + 1)
		s.fill(share)
		for i := range own {
			e := edits[next+i]
			clock = e.time.Add(-5 * time.Minute) //nolint:mnd // before the commit
			s.edit(e, commits[next+i], next+i)
			s.fill(share)
		}
		next += own
		path := filepath.Join(dir, id+".jsonl")
		b.Must(os.WriteFile(path, s.text.Bytes(), 0o600))
		b.Must(os.Chtimes(path, clock, clock))
	}
}

// sampleLines reads the transcripts of -samples, nil if there are none.
func (b *bench) sampleLines() [][]byte {
	if b.samples == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(b.samples, "*.jsonl"))
	b.Must(err)
	var lines [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		b.Must(err)
		lines = append(lines, bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))...)
	}
	return lines
}

// pastSession is a session file while it is written.
type pastSession struct {
	*writer

	number  int
	text    bytes.Buffer
	samples [][]byte
	sample  int // index of the next line
}

// fill adds lines of about size bytes: those of the samples, with fresh identifiers, present times
// and other words, or generated ones.
func (s *pastSession) fill(size int) {
	variable := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:msg|toolu|req)_[A-Za-z0-9]+|"timestamp":"[^"]*"|"cwd":"[^"]*"|"sessionId":"[^"]*"| the `)
	for end := s.text.Len() + size; s.text.Len() < end; {
		if len(s.samples) == 0 {
			s.text.WriteString(s.step())
			continue
		}
		line := s.samples[s.sample]
		s.sample = (s.sample + 1) % len(s.samples)
		s.text.Write(variable.ReplaceAllFunc(line, s.fresh))
		s.text.WriteByte('\n')
	}
}

// fresh replaces a variable part of a sample; equal parts of a session get equal values.
func (s *pastSession) fresh(old []byte) []byte {
	text := string(old)
	switch {
	case strings.HasPrefix(text, `"timestamp"`):
		return []byte(`"timestamp":"` + s.now().UTC().Format("2006-01-02T15:04:05.000Z") + `"`)
	case strings.HasPrefix(text, `"cwd"`):
		return []byte(`"cwd":"` + s.cwd + `"`)
	case strings.HasPrefix(text, `"sessionId"`):
		return []byte(`"sessionId":"` + s.session + `"`)
	case text == " the ":
		return []byte(" " + strings.TrimSpace(strings.ReplaceAll(s.writer.text(1), `\n`, "")) + " ")
	}
	hash := fnv.New128a()
	fmt.Fprintf(hash, "%d %s", s.number, text)
	digits := hex.EncodeToString(hash.Sum(nil))
	if prefix, _, ok := strings.Cut(text, "_"); ok {
		return []byte(prefix + "_" + digits[:24])
	}
	return []byte(digits[:8] + "-" + digits[8:12] + "-4" + digits[13:16] + "-8" + digits[17:20] + "-" + digits[20:32])
}

// edit adds a turn that makes an edit, as Claude Code writes it, and may commit it.
func (s *pastSession) edit(e pastEdit, commit string, number int) {
	quoted := func(lines []string) string { return testkit.Object{"v", strings.Join(lines, "\n")}.JSON() }
	value := func(lines []string) string {
		return strings.TrimSuffix(strings.TrimPrefix(quoted(lines), `{"v":`), "}")
	}
	file := s.cwd + "/" + e.path
	s.text.WriteString(s.prompt(fmt.Sprintf("Change number %d: %s", number, s.writer.text(60)))) //nolint:mnd // a sentence
	s.text.WriteString(s.call("Read", `"file_path":"`+file+`"`, 2000))                           //nolint:mnd // part of a file
	id := "toolu_" + s.hex(12)                                                                   //nolint:mnd // digits
	s.text.WriteString(s.assistant(`{"type":"tool_use","id":"` + id + `","name":"Edit","input":{"file_path":"` + file + `","old_string":` + value(e.old[e.at:e.at+1]) +
		`,"new_string":` + value(append(slices.Clone(e.added), e.old[e.at])) + `}}`))
	patch := make([]string, 0, len(e.added)+1)
	for _, line := range e.added {
		patch = append(patch, "+"+line)
	}
	patch = append(patch, " "+e.old[e.at])
	line := s.line("user", `{"role":"user","content":[{"tool_use_id":"`+id+`","type":"tool_result","content":"The file `+file+` has been updated."}]}`)
	result := testkit.Object{
		"filePath", file, "oldString", e.old[e.at], "newString", strings.Join(append(slices.Clone(e.added), e.old[e.at]), "\n"),
		"originalFile", strings.Join(e.old, "\n") + "\n", "structuredPatch",
		[]any{testkit.Object{"oldStart", e.at + 1, "oldLines", 1, "newStart", e.at + 1, "newLines", len(patch), "lines", patch}},
		"userModified", false, "replaceAll", false,
	}
	s.text.WriteString(strings.TrimSuffix(line, "}\n") + `,"toolUseResult":` + result.JSON() + "}\n")
	if !e.isCommitted {
		return
	}
	id = "toolu_" + s.hex(12) //nolint:mnd // digits
	const abbreviated = 7
	s.text.WriteString(s.assistant(`{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"git add -A && git commit -m 'change ` + strconv.Itoa(number) + `'"}}`))
	s.text.WriteString(s.line("user", fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":"[main %s] change %d\n 1 file changed, %d insertions(+)"}]}`,
		id, commit[:abbreviated], number, len(e.added))))
}
