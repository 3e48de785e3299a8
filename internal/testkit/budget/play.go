package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// play is a session with the agent in a repository. Each turn edits five files, writes 20 KB of
// transcript, and ends with a commit by the person.
type play struct {
	b          *bench
	dir        string
	id         string
	transcript string
	writer     *writer
	files      []string
	sessions   int
	turn       int
	last       string
	resumes    bool // every turn begins with session-start and ends with session-end
	grows      *row // measures the growth of .git at a stop
	env        []string
	as         *agentForm // nil for Claude Code

	measured
}

const (
	editsPerTurn = 5
	bytesPerTurn = 20_000
)

// newPlay begins a session in dir with a transcript of size bytes.
func (b *bench) newPlay(dir string, size int64) *play {
	p := &play{b: b, dir: dir, measured: measured{rows: map[string]*row{}, bases: map[string]*row{}}}
	p.files = strings.Split(b.git(dir, "ls-files", "*.go"), "\n")
	p.begin(size)
	return p
}

// begin begins another session.
func (p *play) begin(size int64) {
	p.sessions++
	p.id = testkit.UUID(p.dir, p.sessions)
	p.transcript = filepath.Join(p.b.claude, p.id+".jsonl")
	p.writer = newWriter(uint64(p.sessions), p.id, p.dir, time.Now)
	if p.as != nil {
		// The transcript is in the agent's own folder.
		p.transcript = p.as.agent.File(p.as.agent.Project(func(string) string { return "" }, p.b.home, p.dir), p.id, time.Now())
		p.writer.form = p.as
		p.b.Must(os.MkdirAll(filepath.Dir(p.transcript), 0o700))
		var text strings.Builder
		text.WriteString(p.as.first(p.id, p.dir) + "\n")
		for int64(text.Len()) < size {
			text.WriteString(p.writer.step())
		}
		p.b.Must(os.WriteFile(p.transcript, []byte(text.String()), 0o600))
		return
	}
	past := p.b.template(fmt.Sprintf("transcript-%d.jsonl", size), func(path string) { p.b.Must(conversation(path, size)) })
	testkit.Call{Dir: p.b.work, Env: p.b.env, Name: "cp", Args: []string{past, p.transcript}}.Must(p.b)
}

// say appends to the transcript.
func (p *play) say(text string) {
	file, err := os.OpenFile(p.transcript, os.O_WRONLY|os.O_APPEND, 0o600)
	p.b.Must(err)
	_, err = file.WriteString(text)
	p.b.Must(err)
	p.b.Must(file.Close())
}

// agent runs a hook of the agent.
func (p *play) agent(name, event string, more ...any) {
	payload := append(testkit.Object{
		"session_id", p.id, "transcript_path", p.transcript, "cwd", p.dir, "permission_mode", "default", "hook_event_name", event,
	}, more...)
	if p.as != nil {
		if p.as.payload != nil {
			payload = append(payload, p.as.payload(p)...)
		}
		verb := name
		if own := p.as.verbs[name]; own != "" {
			verb = own
		}
		env := p.b.env.With(p.env...)
		p.hook(testkit.Call{Dir: p.dir, Env: env, Stdin: payload.JSON(), Name: "entire", Args: []string{"hooks", p.as.agent.Name, verb}}, name)
		return
	}
	p.hook(testkit.Call{Dir: p.dir, Env: p.agentEnv(), Stdin: payload.JSON(), Name: "entire", Args: []string{"hooks", "claude-code", name}}, name)
}

// gitHook runs a git hook as git would.
func (p *play) gitHook(name string, args ...string) {
	env := p.b.env.With("GIT_INDEX_FILE=.git/index", "GIT_PREFIX=")
	p.hook(testkit.Call{Dir: p.dir, Env: env, Name: "entire", Args: append([]string{"hooks", "git", name}, args...)}, name)
}

// hook measures a hook together with its unit, and reads its log entry.
func (p *play) hook(c testkit.Call, name string) {
	path := filepath.Join(p.dir, ".entire", "logs", "entire.log")
	from := int64(0)
	if info, err := os.Stat(path); err == nil {
		from = info.Size()
	}
	v := p.b.version()
	s := p.b.time(c)
	p.b.quiet()
	data, _ := os.ReadFile(path) // no log if recording is off
	if int64(len(data)) < from {
		from = 0
	}
	for line := range bytes.Lines(data[from:]) {
		var said struct {
			Hook    string `json:"hook"`
			Kind    string `json:"hook_type"`
			Git     int    `json:"git_processes"`
			Success bool   `json:"success"`
		}
		if json.Unmarshal(line, &said) != nil || said.Hook != name || said.Kind == "child" {
			continue
		}
		if s.git, s.logged = said.Git, true; !said.Success {
			p.b.Fatalf("%s: %s", name, line)
		}
	}
	if p.idle {
		return
	}
	if r := p.rows[name]; r != nil {
		base := v
		if r.Unit == perStatus {
			base = p.status
		}
		r.add(s, base)
	}
	if r := p.bases[name]; r != nil {
		r.base, r.baseCPU = append(r.base, s.ms), append(r.baseCPU, s.cpu)
	}
}

// lap plays one turn in each play, step by step, so that a hook is measured next to the same hook
// of the others.
func (b *bench) lap(plays ...*play) {
	b.slim()
	steps := []func(*play){
		(*play).clean, (*play).start, (*play).prompt, (*play).work, (*play).stop,
		(*play).prepare, (*play).commitMsg, (*play).commit, (*play).postCommit, (*play).end,
	}
	for _, step := range steps {
		for _, p := range plays {
			step(p)
		}
	}
}

// laps plays b.runs turns after an uncounted one.
func (b *bench) laps(plays ...*play) {
	for n := range b.runs + 1 {
		for _, p := range plays {
			p.idle = n == 0
		}
		b.lap(plays...)
	}
}

// clean measures the unit s.
func (p *play) clean() {
	for _, r := range p.rows {
		if r.Unit == perStatus {
			p.status = p.b.time(testkit.Call{
				Dir: p.dir, Env: p.b.env.With("GIT_OPTIONAL_LOCKS=0"), Name: "git", Args: []string{"status", "--porcelain", "-z", "-uall"},
			}).ms
			return
		}
	}
}

func (p *play) start() {
	switch {
	case p.turn == 0:
		p.agent("session-start", "SessionStart", "source", "startup")
	case p.resumes:
		p.agent("session-start", "SessionStart", "source", "resume")
	}
}

func (p *play) prompt() {
	p.turn++
	text := fmt.Sprintf("Turn %d: refactor the parser", p.turn)
	p.agent("user-prompt-submit", "UserPromptSubmit", "prompt", text)
	p.say(p.writer.prompt(text))
}

// work plays the agent's work in a turn.
func (p *play) work() {
	told := 0
	say := func(text string) {
		p.say(text)
		told += len(text)
	}
	for range editsPerTurn {
		path := filepath.Join(p.dir, p.files[p.writer.rng.IntN(len(p.files))])
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644)
		p.b.Must(err)
		fmt.Fprintf(file, "// edit %d\n", p.writer.rng.IntN(1<<30))
		p.b.Must(file.Close())
		w := p.writer
		say(w.call("Edit", `"file_path":"`+path+`","old_string":"`+w.text(200)+`","new_string":"`+w.text(300)+`"`, 600))
	}
	for told < bytesPerTurn {
		say(p.writer.step())
	}
	p.last = fmt.Sprintf("Done with turn %d.", p.turn)
	p.say(p.writer.says(p.last))
}

func (p *play) stop() {
	before, told := int64(0), int64(0)
	if p.grows != nil && !p.idle {
		before = p.b.gitSize(p.dir)
		// The size of the transcript that no hook has processed yet.
		var at progress
		data, err := os.ReadFile(filepath.Join(p.dir, ".git", "entire-sessions", p.id+".json"))
		p.b.Must(err)
		p.b.Must(json.Unmarshal(data, &at))
		info, err := os.Stat(p.transcript)
		p.b.Must(err)
		told = info.Size() - at.Recorder.Cursor.Offset
	}
	p.agent("stop", "Stop", "stop_hook_active", false, "last_assistant_message", p.last)
	p.stored()
	if before > 0 {
		p.grows.base = append(p.grows.base, float64(told))
		p.grows.samples = append(p.grows.samples, sample{ms: float64(p.b.gitSize(p.dir) - before)})
	}
}

func (p *play) message() string { return filepath.Join(p.dir, ".git", "COMMIT_EDITMSG") }

func (p *play) prepare() {
	p.b.git(p.dir, "add", "-u")
	p.b.Must(os.WriteFile(p.message(), fmt.Appendf(nil, "Turn %d\n", p.turn), 0o644))
	p.gitHook("prepare-commit-msg", p.message(), "message")
	if text, err := os.ReadFile(p.message()); err != nil || !bytes.Contains(text, []byte("\nEntire-Checkpoint: ")) {
		p.b.Fatalf("turn %d in %s: the commit was not linked", p.turn, p.dir)
	}
}

func (p *play) commitMsg() { p.gitHook("commit-msg", p.message()) }

func (p *play) commit() {
	p.b.git(p.dir, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-F", p.message())
}

func (p *play) postCommit() { p.gitHook("post-commit") }

func (p *play) end() {
	if p.resumes {
		p.agent("session-end", "SessionEnd", "reason", "other")
	}
}
