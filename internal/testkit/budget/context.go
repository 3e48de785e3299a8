package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// manyContexts is a number of saved contexts that must not slow down a start.
const manyContexts = 2000

// contextCheckpoints measures the cost of saved contexts: the hooks that record them, and the
// programs that the agent runs beside them.
func contextCheckpoints(b *bench, rows []*row) {
	b.shareOfStop(rows[0])
	p := b.newPlay(b.enabled(bigRepo(), "cleared"), longTalk)
	p.unmeasuredTurn()
	b.contexts(p.dir)
	b.slim()
	for n := range b.runs + 1 {
		p.idle = n == 0
		p.rows["session-end"], p.rows["session-start"] = rows[1], rows[2]
		p.agent("session-end", "SessionEnd", "reason", "clear")
		b.Must(os.Remove(p.transcript))
		p.begin(shortTalk) // after a clear a new transcript begins
		p.agent("session-start", "SessionStart", "source", "clear")
		clear(p.rows)
		p.unmeasuredTurn()
		const talk = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`
		// A client that lists the tools and disconnects.
		mcp := testkit.Call{Dir: p.dir, Env: p.agentEnv(), Stdin: talk, Name: "entire", Args: []string{"mcp"}}
		for i, c := range []testkit.Call{p.statusline(n), mcp, p.recall(), p.recall("list")} {
			v := b.version()
			p.takeOf(rows[3+i], b.time(c), v)
		}
		b.Must(os.Remove(p.transcript))
		p.begin(longTalk)
		p.unmeasuredTurn()
	}
	b.Must(os.RemoveAll(p.dir))
}

// shareOfStop measures stops with and without saved contexts, in turn.
func (b *bench) shareOfStop(share *row) {
	on, off := b.newPlay(b.enabled(smallRepo(), "contexts"), longTalk), b.newPlay(b.enabled(smallRepo(), "no-contexts"), longTalk)
	off.env = []string{"ENTIRE_RECALL_AUTO_SUMMARY_ENABLED=false"}
	with, without := &row{Unit: perVersion}, &row{Unit: perVersion}
	on.rows["stop"], off.rows["stop"] = with, without
	b.laps(on, off)
	for i, s := range with.samples {
		s.ms = max(s.ms-without.samples[i].ms, 0)
		s.cpu = max(s.cpu-without.samples[i].cpu, 0)
		share.add(s, with.base[i])
	}
	b.Must(os.RemoveAll(on.dir))
	b.Must(os.RemoveAll(off.dir))
}

// unmeasuredTurn plays a turn without recording its measurements.
func (p *play) unmeasuredTurn() {
	idle := p.idle
	p.idle = true
	p.prompt()
	p.work()
	p.stop()
	p.idle = idle
}

// contexts fills the repository with contexts saved on request, so that none of them expires:
// copies of one, each with its own id.
func (b *bench) contexts(dir string) {
	testkit.Call{Dir: dir, Env: b.env, Name: b.bin, Args: []string{"recall", "save"}}.Must(b)
	ref := strings.TrimSpace(b.git(dir, "for-each-ref", "--count=1", "--format=%(refname)", "refs/entire/context"))
	id := filepath.Base(ref)
	text := b.git(dir, "show", ref+":checkpoint.json")
	files := strings.TrimSpace(b.git(dir, "rev-parse", "-q", "--verify", ref+":files"))
	var stream bytes.Buffer
	for i := range manyContexts {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		name := hex.EncodeToString(sum[:])
		name = name[:6] + "-" + name[6:12]
		copied := strings.ReplaceAll(text, id, name) + "\n"
		fmt.Fprintf(&stream, "commit refs/entire/context/%s\ncommitter Bench <bench@example.com> %d +0000\ndata 4\ncopy\n", name, 1_700_000_000+i)
		fmt.Fprintf(&stream, "M 100644 inline checkpoint.json\ndata %d\n%s\nM 040000 %s files\n\n", len(copied), copied, files)
	}
	testkit.Call{Dir: dir, Env: b.env, Stdin: stream.String(), Name: "git", Args: []string{"fast-import", "--quiet"}}.Must(b)
	b.git(dir, "pack-refs", "--all")
	testkit.Call{Dir: dir, Env: b.env, Name: b.bin, Args: []string{"recall", "list", "-n", "1"}}.Must(b) // fills the catalog
}

// agentEnv returns the environment of programs that the agent starts.
func (p *play) agentEnv() testkit.Env {
	return p.b.env.With(p.env...).With("CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+p.id, "CLAUDE_PROJECT_DIR="+p.dir, "CLAUDE_PID="+strconv.Itoa(os.Getpid()))
}

// statusline returns the call that the agent makes after an answer, with a fuller context window
// each time.
func (p *play) statusline(n int) testkit.Call {
	window := testkit.Object{
		"total_input_tokens", 1000 * n, "total_output_tokens", 100, "context_window_size", 200_000,
		"current_usage",
		testkit.Object{"input_tokens", 1000 * n, "output_tokens", 100, "cache_creation_input_tokens", 0, "cache_read_input_tokens", 0},
		"used_percentage", 20 + n, "remaining_percentage", 80 - n,
	}
	line := testkit.Object{
		"session_id", p.id, "transcript_path", p.transcript, "cwd", p.dir, "version", "2.1.328", "model",
		testkit.Object{"id", "m", "display_name", "M"},
		"workspace",
		testkit.Object{"current_dir", p.dir, "project_dir", p.dir},
		"context_window", window,
	}
	return testkit.Call{Dir: p.dir, Env: p.agentEnv(), Stdin: line.JSON(), Name: "entire", Args: []string{"statusline"}}
}

func (p *play) recall(args ...string) testkit.Call {
	return testkit.Call{Dir: p.dir, Env: p.b.env, Name: "entire", Args: append([]string{"recall"}, args...)}
}
