package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/testkit"
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
