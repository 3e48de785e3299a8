package main

import (
	"bytes"
	"os"
	"path/filepath"
)

// due measures the two hooks that output the brief of a session with commits: its short form at the
// next start, and the whole brief with the prompt. No remote-tracking branch contains the commits,
// which is the slowest case for git.
func due(b *bench, rows []*row) {
	p := b.newPlay(b.enabled(smallRepo(), "due"), shortTalk)
	b.git(p.dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	b.slim()
	for n := range b.runs + 1 {
		p.idle = n == 0
		p.agent("session-start", "SessionStart", "source", "startup")
		p.prompt()
		p.work()
		p.stop()
		p.prepare()
		p.commit()
		p.postCommit()
		p.agent("session-end", "SessionEnd", "reason", "clear")
		p.begin(shortTalk)
		p.rows["session-start"], p.rows["user-prompt-submit"] = rows[0], rows[1]
		p.agent("session-start", "SessionStart", "source", "clear")
		p.agent("user-prompt-submit", "UserPromptSubmit", "prompt", "continue")
		clear(p.rows)
		if out, err := os.ReadFile(filepath.Join(b.work, "out")); err != nil || !bytes.Contains(out, []byte("**Requests**")) {
			b.Fatalf("the prompt was not given the brief: %.200s", out)
		}
		p.say(p.writer.prompt("continue"))
		p.agent("session-end", "SessionEnd", "reason", "other")
	}
	b.Must(os.RemoveAll(p.dir))
}
