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
	rows func() []*row
	run  func(b *bench, rows []*row)
}

func scenarios() []scenario {
	return []scenario{
		{"start", startRows, start},
		{"off", offRows, off},
		{"small", smallRows, small},
		{"small with a long conversation", longRows, long},
		{"big", bigRows, big},
		{"agents", agentRows, agents},
		{"subagents", subagentRows, subagents},
		{"commits", commitRows, commits},
		{"first stop", firstRows, first},
		{"old sessions", sessionRows, sessions},
		{"checkpoints", checkpointRows, checkpoints},
		{"huge transcript", hugeRows, huge},
		{"reading", readingRows, reading},
		{"damaged", damagedRows, damaged},
		{"lines", lineRows, lines},
		{"one more turn", turnRows, oneTurn},
		{"pages", pageRows, page},
		{"bisect", bisectRows, bisect},
		{"moments", momentRows, moments},
		{"context checkpoints", contextRows, contextCheckpoints},
		{"due brief", dueRows, due},
	}
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

func startRows() []*row { return []*row{{Name: "version", Unit: perVersion, Budget: 4}} }

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

func offRows() []*row {
	return []*row{
		{Name: "disabled, slowest hook", Unit: perVersion, Budget: 5},
		{Name: "never enabled, slowest hook", Unit: perVersion, Budget: 5},
	}
}

func off(b *bench, rows []*row) {
	disabled := b.enabled(smallRepo(), "disabled")
	testkit.Call{Dir: disabled, Env: b.env, Name: b.bin, Args: []string{"disable"}}.Must(b)
	plays := []*play{b.newPlay(disabled, shortTalk), b.newPlay(b.repository(smallRepo(), "never"), shortTalk)}
	for i, p := range plays {
		for _, hook := range hookNames() {
			p.rows[hook] = &row{Name: hook, Unit: perVersion}
			rows[i].slowest = append(rows[i].slowest, p.rows[hook])
		}
		b.Must(os.WriteFile(p.message(), []byte("message\n"), 0o644))
	}
	b.slim()
	for n := range b.runs + 1 {
		for _, p := range plays {
			p.idle = n == 0
			p.agent("session-start", "SessionStart", "source", "startup")
			p.agent("user-prompt-submit", "UserPromptSubmit", "prompt", "refactor")
			p.agent("stop", "Stop", "last_assistant_message", "Done.")
			p.agent("session-end", "SessionEnd", "reason", "other")
			p.gitHook("prepare-commit-msg", p.message(), "message")
			p.gitHook("commit-msg", p.message())
			p.gitHook("post-commit")
		}
	}
}

func smallRows() []*row {
	rows := make([]*row, 0, len(hookNames()))
	for _, hook := range hookNames() {
		r := &row{Name: hook + ", 20 files", Unit: perVersion, Budget: 20}
		if hook == "user-prompt-submit" {
			r.Budget = 12
		}
		rows = append(rows, r)
	}
	return rows
}

func small(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(smallRepo(), "small"), shortTalk)
	p.resumes = true
	for i, hook := range hookNames() {
		p.rows[hook] = rows[i]
	}
	b.laps(p)
}

func longRows() []*row {
	return []*row{{Name: "user-prompt-submit, 20 files, 20 MB transcript", Unit: perVersion, Budget: 12}}
}

func long(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(smallRepo(), "long"), longTalk)
	p.rows["user-prompt-submit"] = rows[0]
	b.laps(p)
}

func bigRows() []*row {
	const in = ", 36,001 files, 20 MB transcript"
	return []*row{
		{Name: "user-prompt-submit" + in, Unit: perVersion, Budget: 12},
		{Name: "prepare-commit-msg" + in, Unit: perVersion, Budget: 20},
		{Name: "post-commit" + in, Unit: perVersion, Budget: 40},
		{Name: "stop" + in, Unit: perStatus, Budget: 2},
		{Name: "growth of .git at a stop, 20 MB transcript", Unit: perByte, Budget: 100},
	}
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
	growth.value, growth.slack = p.grows.ms()/1000, median(p.grows.base)/1000
}

func firstRows() []*row {
	return []*row{{Name: "first stop, 36,001 files, 20 MB transcript not seen before", Unit: perStatus, Budget: 3}}
}

// first plays a session of one turn each time, as often as a third of the runs:
// what each leaves to a detached child takes seconds.
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

// compare plays two sessions beside each other; rows take the hooks of the one
// with much history.
func (b *bench) compare(little, much *play, rows []*row) {
	for _, r := range rows {
		hook, _, _ := strings.Cut(r.Name, ",")
		much.rows[hook], little.bases[hook] = r, r
	}
	b.laps(little, much)
}

func sessionRows() []*row {
	return compared("500 ended sessions instead of 1", "user-prompt-submit", "stop", "prepare-commit-msg", "post-commit")
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

// multiply makes copies of the play's session, which has ended.
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

func checkpointRows() []*row {
	return compared("2,000 checkpoints instead of 1", "post-commit", "prepare-commit-msg", "stop")
}

func checkpoints(b *bench, rows []*row) {
	plays := make([]*play, 2)
	for i, n := range []int{1, 2000} {
		name := fmt.Sprintf("checkpoints-%d", n)
		plays[i] = b.newPlay(b.enabled(history{name: name, files: 200, commits: 2001, checkpoints: n, talk: 20_000}, name), shortTalk)
	}
	b.compare(plays[0], plays[1], rows)
}

func hugeRows() []*row {
	return compared("500 MB transcript instead of 0.1 MB", "user-prompt-submit", "stop", "prepare-commit-msg", "post-commit")
}

func huge(b *bench, rows []*row) {
	little := b.newPlay(b.enabled(smallRepo(), "little"), shortTalk)
	much := b.newPlay(b.enabled(smallRepo(), "huge"), hugeTalk)
	b.compare(little, much, rows)
	b.Must(os.Remove(much.transcript))
}
