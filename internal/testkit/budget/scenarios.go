package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// scenario measures some rows of the table.
type scenario struct {
	name string
	rows []*row
	run  func(b *bench, rows []*row)
}

func scenarios() []scenario {
	small := make([]*row, 0, len(hookNames()))
	for _, hook := range hookNames() {
		small = append(small, &row{Name: hook + ", 20 files", Unit: perVersion, Budget: 20})
	}
	small[1].Budget = 8 // of user-prompt-submit
	forms := agentForms()
	beside := make([]*row, 0, 3*len(forms))
	for _, f := range forms {
		beside = append(beside, compared("of "+f.agent.Label+" instead of Claude Code", "user-prompt-submit", "stop", "post-commit")...)
	}
	fat := commandRows(readings(), ", 700 MB of transcripts instead of 40")
	for _, r := range fat {
		r.Unit, r.Budget = perOne, 2
	}
	const ofBig, ofTask = ", 36,001 files, 20 MB transcript", " in a task, 36,001 files"
	ofLong := fmt.Sprintf(", %d lines, %d commits", longFile, longHistory)
	return []scenario{
		{"start", []*row{{Name: "version", Unit: perVersion, Budget: 3}}, start},
		{"off", []*row{
			{Name: "disabled, slowest hook", Unit: perVersion, Budget: 5},
			{Name: "never enabled, slowest hook", Unit: perVersion, Budget: 5},
			{Name: "excluded from the machine's repositories, slowest hook", Unit: perVersion, Budget: 5},
		}, off},
		{"small", small, smallTurns},
		{"small with a long conversation", []*row{{Name: "user-prompt-submit, 20 files, 20 MB transcript", Unit: perVersion, Budget: 12}}, long},
		{"big", []*row{
			{Name: "user-prompt-submit" + ofBig, Unit: perVersion, Budget: 12},
			{Name: "prepare-commit-msg" + ofBig, Unit: perVersion, Budget: 20},
			{Name: "post-commit" + ofBig, Unit: perVersion, Budget: 40},
			{Name: "stop" + ofBig, Unit: perStatus, Budget: 2},
			{Name: "growth of .git at a stop, 20 MB transcript", Unit: perByte, Budget: 100},
		}, big},
		{"agents", beside, agents},
		{"subagents", []*row{ // hooks that run many times in a turn, or before its first prompt
			{Name: "session-start, 36,001 files", Unit: perVersion, Budget: 40},
			{Name: "post-todo" + ofTask, Unit: perVersion, Budget: 40},
			{Name: "post-task" + ofTask, Unit: perVersion, Budget: 40},
		}, subagents},
		{"tool calls", []*row{ // hooks that run before each edit and command
			{Name: "pre-tool, a file of which nothing is recorded, 36,001 files", Unit: perVersion, Budget: 5},
			{Name: "pre-tool, a command of which nothing is recorded, 120 facts", Unit: perVersion, Budget: 8},
			{Name: "pre-tool, a line given, 120 facts", Unit: perVersion, Budget: 12},
			{Name: "pre-tool where recording is off", Unit: perVersion, Budget: 5},
		}, toolCalls},
		{"commits", []*row{ // the time that the hooks add to a whole git commit
			{Name: "what hooks add to git commit, 20 files, no session", Unit: perVersion, Budget: 19},
			{Name: "what hooks add to git commit, 20 files, linked", Unit: perVersion, Budget: 46},
		}, commits},
		{"first stop", []*row{{Name: "first stop, 36,001 files, 20 MB transcript not seen before", Unit: perStatus, Budget: 3}}, first},
		{
			"old sessions",
			compared("500 ended sessions instead of 1", "user-prompt-submit", "stop", "prepare-commit-msg", "post-commit"), sessions,
		},
		{"checkpoints", compared("2,000 checkpoints instead of 1", "post-commit", "prepare-commit-msg", "stop"), checkpoints},
		{
			"huge transcript",
			compared("500 MB transcript instead of 0.1 MB", "user-prompt-submit", "stop", "prepare-commit-msg", "post-commit"), huge,
		},
		{"reading", append(commandRows(readings(), ", 2,000 checkpoints, 36,001 files"), fat...), reading},
		{"damaged", []*row{ // 500 ms where v is 1.3 ms
			{Name: "doctor, 600 checkpoints, 130 of them damaged", Unit: perVersion, Budget: 385, Command: true},
		}, damaged},
		{"lines", []*row{
			{Name: "blame" + ofLong, Unit: perBlame, Budget: 1.3, Command: true},
			{Name: "blame" + ofLong + ", no line recorded", Unit: perBlame, Budget: 1.3, Command: true},
			{Name: "blame -L of 20 lines" + ofLong, Unit: perBlame, Budget: 1.3, Command: true},
			{Name: "why, a line" + ofLong, Unit: perBlame, Budget: 1.3, Command: true},
		}, lines},
		{"one more turn", []*row{
			{Name: "log, one more turn to index, 2,000 checkpoints", Unit: perVersion, Budget: 40, Command: true},
			{Name: "log, nothing new to index, 2,000 checkpoints", Unit: perVersion, Budget: 40, Command: true},
		}, oneTurn},
		{"pages", append(commandRows(pages(), " of 2,000"),
			&row{Name: "browse, first screen, 2,000 checkpoints", Unit: perVersion, Budget: 77, Command: true}), page},
		{"scale", scaleRows(), scale},
		{"bisect", []*row{{Name: "bisect, between two runs, 36,001 files", Unit: perVersion, Budget: 230, Command: true}}, bisect},
		{"moments", commandRows(momentCommands(), fmt.Sprintf(", %d checkpoints, 2,000 files", manyMoments)), moments},
		{"context checkpoints", []*row{
			{Name: "stop, 20 files, 20 MB transcript, what context checkpoints add", Unit: perVersion, Budget: 12},
			{Name: "session-end, clear, 36,001 files, 20 MB transcript", Unit: perVersion, Budget: 77},
			{Name: "session-start after it, 2,000 context checkpoints", Unit: perVersion, Budget: 115},
			{Name: "statusline", Unit: perVersion, Budget: 6},
			{Name: "mcp, from its start to its end, initialize and a list answered", Unit: perVersion, Budget: 16, Command: true},
			{Name: "recall, 2,000 context checkpoints", Unit: perVersion, Budget: 115, Command: true},
			{Name: "recall list, 2,000 context checkpoints", Unit: perVersion, Budget: 115, Command: true},
		}, contextCheckpoints},
		{"past sessions", pastRows(), pastWorks},
		{"due brief", []*row{
			{Name: "session-start after a clear, short form of a session with commits", Unit: perVersion, Budget: 20},
			{Name: "user-prompt-submit, its whole brief", Unit: perVersion, Budget: 12},
		}, due},
	}
}

// commandRows returns a row for each command; on describes the data and is appended to the name.
func commandRows(commands []command, on string) []*row {
	rows := make([]*row, 0, len(commands))
	for _, c := range commands {
		rows = append(rows, &row{Name: c.name + on, Unit: perVersion, Budget: c.budget, Command: true})
	}
	return rows
}

func smallRepo() history { return history{name: "small", files: 20, commits: 20} }

func bigRepo() history { return history{name: "big", files: 36_001, commits: 2000} }

const (
	shortTalk = 100_000
	longTalk  = 20_000_000
	hugeTalk  = 500_000_000
)

func hookNames() []string {
	return []string{"session-start", "user-prompt-submit", "stop", "session-end", "prepare-commit-msg", "commit-msg", "post-commit"}
}

func start(b *bench, rows []*row) {
	b.slim()
	for n := range b.runs + 1 {
		v := b.version()
		s := b.time(testkit.Call{Dir: b.work, Env: b.env, Name: "entire", Args: []string{"version"}})
		if n > 0 {
			rows[0].add(s, v)
		}
	}
}

func off(b *bench, rows []*row) {
	disabled := b.enabled(smallRepo(), "disabled")
	testkit.Call{Dir: disabled, Env: b.env, Name: b.bin, Args: []string{"disable"}}.Must(b)
	excluded := b.repository(smallRepo(), "excluded")
	b.git(excluded, "config", "remote.origin.url", "git@example.com:acme/widgets.git")
	plays := []*play{b.newPlay(disabled, shortTalk), b.newPlay(b.repository(smallRepo(), "never"), shortTalk), b.newPlay(excluded, shortTalk)}
	for i, p := range plays {
		for _, hook := range append(hookNames(), "pre-tool") {
			p.rows[hook] = &row{Name: hook, Unit: perVersion}
			rows[i].slowest = append(rows[i].slowest, p.rows[hook])
		}
		b.Must(os.WriteFile(p.message(), []byte("message\n"), 0o644))
	}
	b.slim()
	lap := func(p *play, isFirst bool) {
		p.idle = isFirst
		p.agent("session-start", "SessionStart", "source", "startup")
		p.agent("user-prompt-submit", "UserPromptSubmit", "prompt", "refactor")
		p.call("Edit", "file_path", filepath.Join(p.dir, p.files[0]))
		p.agent("stop", "Stop", "last_assistant_message", "Done.")
		p.agent("session-end", "SessionEnd", "reason", "other")
		p.gitHook("prepare-commit-msg", p.message(), "message")
		p.gitHook("commit-msg", p.message())
		p.gitHook("post-commit")
	}
	for n := range b.runs + 1 {
		lap(plays[0], n == 0)
		lap(plays[1], n == 0)
	}
	// The last pattern of many excludes it, by its remote.
	const machine = `{"global": {"enabled": true, "exclude_paths": ["/a/**", "/b/*/c"], "exclude_origins": ["example.org/*", "example.com/acme"]}}`
	file := filepath.Join(b.env.Get("HOME"), ".config", "entire", "settings.json")
	b.Must(os.MkdirAll(filepath.Dir(file), 0o700))
	b.Must(os.WriteFile(file, []byte(machine), 0o600))
	for n := range b.runs + 1 {
		lap(plays[2], n == 0)
	}
	b.Must(os.Remove(file))
}

func smallTurns(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(smallRepo(), "small"), shortTalk)
	p.resumes = true
	for i, hook := range hookNames() {
		p.rows[hook] = rows[i]
	}
	b.laps(p)
}

func long(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(smallRepo(), "long"), longTalk)
	p.rows["user-prompt-submit"] = rows[0]
	b.laps(p)
}

func big(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(bigRepo(), "big"), longTalk)
	for _, r := range rows[:4] {
		hook, _, _ := strings.Cut(r.Name, ",")
		p.rows[hook] = r
	}
	growth := rows[4]
	p.grows = &row{}
	b.laps(p)
	b.Must(os.RemoveAll(p.dir))
	growth.value, growth.slack = p.grows.ms()/1000, testkit.Median(p.grows.base)/1000
}

// first plays a session of one turn each time, a third of the runs: its detached child takes
// seconds.
func first(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(bigRepo(), "first"), longTalk)
	p.rows["stop"] = rows[0]
	for n := range (b.runs+2)/3 + 1 {
		if p.idle = n == 0; n > 0 {
			p.begin(longTalk)
			p.turn = 0
		}
		p.resumes = true
		b.lap(p)
		b.Must(os.Remove(p.transcript))
	}
	b.Must(os.RemoveAll(p.dir))
}

func compared(what string, hooks ...string) []*row {
	rows := make([]*row, 0, len(hooks))
	for _, hook := range hooks {
		rows = append(rows, &row{Name: hook + ", " + what, Unit: perOne, Budget: 1.2})
	}
	return rows
}

// compare plays two sessions next to each other; rows measure the hooks of the one with much
// history.
func (b *bench) compare(little, much *play, rows []*row) {
	for _, r := range rows {
		hook, _, _ := strings.Cut(r.Name, ",")
		much.rows[hook], little.bases[hook] = r, r
	}
	b.laps(little, much)
}

func sessions(b *bench, rows []*row) {
	const old = 500
	plays := make([]*play, 2)
	for i, name := range []string{"one-session", "many-sessions"} {
		p := b.newPlay(b.enabled(smallRepo(), name), shortTalk)
		p.resumes = true
		b.lap(p)
		if i == 1 {
			p.multiply(old)
		}
		p.begin(shortTalk)
		p.turn, p.resumes = 0, false
		plays[i] = p
	}
	b.compare(plays[0], plays[1], rows)
}

// multiply makes copies of the play's ended session, for n sessions in total.
func (p *play) multiply(n int) {
	dir := filepath.Join(p.dir, ".git", "entire-sessions")
	files, err := filepath.Glob(filepath.Join(dir, p.id+".*"))
	p.b.Must(err)
	for i := range n - 1 {
		id := testkit.UUID(p.id, "copy", i)
		for _, path := range files {
			data, err := os.ReadFile(path)
			p.b.Must(err)
			name := id + strings.TrimPrefix(filepath.Base(path), p.id)
			data = bytes.ReplaceAll(data, []byte(p.id), []byte(id))
			p.b.Must(os.WriteFile(filepath.Join(dir, name), data, 0o600)) //nolint:gosec // in the run's own folder
		}
	}
}

func checkpoints(b *bench, rows []*row) {
	plays := make([]*play, 2)
	for i, n := range []int{1, 2000} {
		name := fmt.Sprintf("checkpoints-%d", n)
		plays[i] = b.newPlay(b.enabled(history{name: name, files: 200, commits: 2001, checkpoints: n, talk: 20_000}, name), shortTalk)
	}
	b.compare(plays[0], plays[1], rows)
}

func huge(b *bench, rows []*row) {
	little := b.newPlay(b.enabled(smallRepo(), "little"), shortTalk)
	much := b.newPlay(b.enabled(smallRepo(), "huge"), hugeTalk)
	b.compare(little, much, rows)
	b.Must(os.Remove(much.transcript))
}
