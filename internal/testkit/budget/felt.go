package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
)

// subagents plays turns in which a subagent does the work.
func subagents(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(bigRepo(), "subagents"), shortTalk)
	p.unmeasuredTurn()
	b.slim()
	for n := range b.runs + 1 {
		p.idle = n == 0
		p.rows["session-start"], p.rows["post-todo"], p.rows["post-task"] = rows[0], rows[1], rows[2]
		p.agent("session-start", "SessionStart", "source", "resume")
		p.prompt()
		task := fmt.Sprintf("toolu_task%d", n)
		agent := fmt.Sprintf("a%017d", n)
		input := testkit.Object{"description", "Edit five files", "subagent_type", "general-purpose", "prompt", "Edit"}
		p.agent("pre-task", "PreToolUse", "tool_name", "Task", "tool_use_id", task, "tool_input", input)
		p.work()
		todo := testkit.Object{"content", "edit", "status", "in_progress", "activeForm", "editing"}
		p.agent("post-todo", "PostToolUse", "tool_name", "TodoWrite", "agent_id", agent, "tool_use_id", task+"t",
			"tool_input", testkit.Object{"todos", []any{todo}})
		p.work()
		p.agent("post-task", "PostToolUse", "tool_name", "Task", "agent_id", agent, "tool_use_id", task, "tool_input", input)
		p.stop()
	}
	b.Must(os.RemoveAll(p.dir))
}

// call runs the hook before a tool call.
func (p *play) call(tool, name, input string) {
	p.agent("pre-tool", "PreToolUse", "tool_name", tool, "tool_use_id", "toolu_1", "tool_input", testkit.Object{name, input})
}

// toolCalls measures the hook before an edit and before a command, of a session whose memory has as
// many facts as one may have: if it has nothing about the file or the command, and if a line is given;
// and the same hook where recording is off.
func toolCalls(b *bench, rows []*row) {
	const facts = 120
	p := b.newPlay(b.enabled(bigRepo(), "tool-calls"), shortTalk)
	p.agent("session-start", "SessionStart", "source", "startup")
	p.prompt()
	m := memory.Memory{Format: 1, Branch: strings.TrimSpace(b.git(p.dir, "branch", "--show-current"))}
	for i, file := range p.files[:facts] {
		data, err := os.ReadFile(filepath.Join(p.dir, file))
		b.Must(err)
		m.Facts = append(m.Facts, memory.Fact{
			Fact: recall.Fact{
				Kind: recall.Decision, By: recall.Person, Text: strings.Repeat("keep the tokens opaque ", 12), Why: strings.Repeat("they are logged ", 15),
				Files: []string{file, fmt.Sprintf("other%d.go", i)}, Command: fmt.Sprintf("go test ./pkg%d", i), Request: 1, At: time.Now(),
			},
			Session: testkit.UUID("earlier", i), Hashes: []string{disk.Digest(data), disk.Digest(nil)},
		})
	}
	data, err := json.Marshal(m)
	b.Must(err)
	b.Must(session.Open(filepath.Join(p.dir, ".git")).Side(p.id, session.MemoryKind).Replace(data))
	off := b.newPlay(b.repository(smallRepo(), "tool-calls-off"), shortTalk)
	off.rows["pre-tool"] = rows[3]
	b.slim()
	for n := range b.runs + 1 {
		p.idle, off.idle = n == 0, n == 0
		off.call("Edit", "file_path", filepath.Join(off.dir, "none.go"))
		p.rows["pre-tool"] = rows[0]
		p.call("Edit", "file_path", filepath.Join(p.dir, "none.go"))
		p.rows["pre-tool"] = rows[1]
		p.call("Bash", "command", "ls -l")
		p.rows["pre-tool"] = rows[2]
		p.call("Edit", "file_path", filepath.Join(p.dir, p.files[n]))
		if out, err := os.ReadFile(filepath.Join(b.work, "out")); err != nil || !bytes.Contains(out, []byte("keep the tokens opaque")) {
			b.Fatalf("no line was given: %.200s", out)
		}
	}
	b.Must(os.RemoveAll(off.dir))
	b.Must(os.RemoveAll(p.dir))
}

// commits measures whole commits with the installed hooks, each compared with one without hooks:
// first when no session has anything to commit, then with the files of a turn.
func commits(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(smallRepo(), "commits"), shortTalk)
	b.slim()
	for n := range b.runs + 1 {
		p.idle = n == 0
		p.commitBoth(rows[0], func(i int) { b.Must(os.WriteFile(filepath.Join(p.dir, "mine.txt"), fmt.Append(nil, n, i), 0o644)) })
	}
	for n := range b.runs + 1 {
		p.idle = n == 0
		p.commitBoth(rows[1], func(int) { p.unmeasuredTurn() })
	}
	b.Must(os.RemoveAll(p.dir))
}

// commitBoth makes one commit without hooks and one with them, each after a call of change, and
// records the difference.
func (p *play) commitBoth(r *row, change func(i int)) {
	var took [2]sample
	v := p.b.version()
	for i, more := range [][]string{{"-c", "core.hooksPath=/dev/null"}, nil} {
		change(i)
		p.b.quiet()
		p.b.git(p.dir, "add", "-A")
		args := append(append([]string{}, more...), "commit", "-q", "-m", "change")
		took[i] = p.b.time(testkit.Call{Dir: p.dir, Env: p.b.env, Name: "git", Args: args})
		p.b.quiet()
	}
	added := took[1]
	added.ms, added.cpu = max(0, added.ms-took[0].ms), max(0, added.cpu-took[0].cpu)
	p.takeOf(r, added, v)
}
