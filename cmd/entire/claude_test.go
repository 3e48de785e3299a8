package main

import (
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// named removes a leading "-s NAME" from the arguments.
func named(args []string) (name string, rest []string) {
	if len(args) >= 2 && args[0] == "-s" {
		return args[1], args[2:]
	}
	return "main", args
}

// session returns the story's session of that name, created on first use in the script's
// current folder.
func (s *story) session(name string) *testkit.Session {
	repo := s.repo()
	if old := s.sessions[name]; old != nil {
		s := old.For(scriptTB{s.ts})
		s.Repo.Env = repo.Env
		return s
	}
	dir := s.ts.MkAbs(s.ts.Getenv("WORK") + "/claude")
	if s.home {
		dir = ""
	}
	made := testkit.NewSession(repo, name, dir)
	s.sessions[name] = made
	return made
}

// cmdClaude plays one step of a session:
//
//	claude [-s NAME] start [SOURCE] | prompt TEXT | notify TEXT | say TEXT | stop | interrupt | fail | end [REASON]
//	                 again REASON        the end again, as from a second handler
//	                 brief [SOURCE]      the second handler of a start
//	                 compact SUMMARY     a compaction with all of its events
//	                 calls TOOL PATH     the hook before a call of a tool (of Bash: COMMAND), subagent-calls: of a subagent
//	                 write PATH TEXT | edit PATH OLD NEW | bash COMMAND | big KILOBYTES
//	                 cut TEXT | mend | raw TEXT | lag | shared | live | die | cd DIR | background [NAME...] | installed | home
//	                 after NAME          it runs in the process of that session
//	                 complete            the work that a hook leaves to its child
//	                 env NAME=VALUE...
//	                 turn PATH...        a whole turn that writes these files
func cmdClaude(ts *testscript.TestScript, neg bool, args []string) {
	story := of(ts)
	name, args := named(args)
	if len(args) == 0 {
		ts.Fatalf("usage: claude [-s NAME] STEP ...")
	}
	step, args := args[0], args[1:]
	for i := range args {
		args[i] = unescape(args[i])
	}
	if step == "home" {
		story.home = true
		return
	}
	session := story.session(name)
	if step == "bash" {
		result := session.Bash(strings.Join(args, " "))
		_, _ = ts.Stdout().Write([]byte(result.Stdout))
		_, _ = ts.Stderr().Write([]byte(result.Stderr))
		if (result.Code != 0) != neg {
			ts.Fatalf("exit %d", result.Code)
		}
		return
	}
	if neg {
		ts.Fatalf("claude %s can't be negated", step)
	}
	result := playStep(ts, session, step, args)
	_, _ = ts.Stdout().Write([]byte(result.Stdout))
	_, _ = ts.Stderr().Write([]byte(result.Stderr))
}

// arg returns the n-th argument or a default.
func arg(args []string, n int, otherwise string) string {
	if n < len(args) {
		return args[n]
	}
	return otherwise
}

func playStep(ts *testscript.TestScript, session *testkit.Session, step string, args []string) testkit.Result {
	switch step {
	case "start":
		return session.Start(arg(args, 0, "startup"))
	case "prompt":
		return session.Prompt(strings.Join(args, " "))
	case "notify":
		return session.Notify(strings.Join(args, " "))
	case "stop":
		return session.Stop()
	case "interrupt":
		session.Interrupt()
	case "fail":
		return session.Fail()
	case "end":
		return session.End(arg(args, 0, "prompt_input_exit"))
	case "again":
		return session.Again(arg(args, 0, "clear"))
	case "brief":
		return session.Brief(arg(args, 0, "startup"))
	case "compact":
		return session.Compact(strings.Join(args, " "))
	case "turn":
		return wholeTurn(session, args)
	case "calls":
		return session.Calls(arg(args, 0, ""), strings.Join(args[1:], " "), "")
	case "subagent-calls":
		return session.Calls(arg(args, 0, ""), strings.Join(args[1:], " "), "a1b2c3")
	case "write":
		session.Write(arg(args, 0, ""), arg(args, 1, "")+"\n")
	case "edit":
		session.Edit(arg(args, 0, ""), arg(args, 1, ""), arg(args, 2, ""))
	case "say":
		session.Say(strings.Join(args, " "))
	default:
		arrange(ts, session, step, args)
	}
	return testkit.Result{}
}

// arrange plays the steps that are not part of a conversation.
func arrange(ts *testscript.TestScript, session *testkit.Session, step string, args []string) {
	switch step {
	case "big":
		size, err := strconv.Atoi(arg(args, 0, "961"))
		ts.Check(err)
		session.Bash("head -c " + strconv.Itoa(size*1024) + " /dev/zero | tr '\\0' 'x'")
	case "complete":
		session.Repo.For(scriptTB{ts}).Entire("hooks", "complete", session.ID)
	case "cut":
		session.Transcript.CutLine(strings.Join(args, " "))
	case "mend":
		session.Transcript.Mend()
	case "raw":
		session.Transcript.Raw(strings.Join(args, " ") + "\n")
	case "lag":
		session.Lag = true
	case "installed":
		session.Installed = true
	case "shared":
		session.Shared = true
	case "live":
		session.Live()
	case "after":
		session.PID = of(ts).session(arg(args, 0, "main")).PID
	case "die":
		session.Die()
	case "cd":
		session.Cwd = ts.MkAbs(arg(args, 0, "."))
	case "background":
		session.Background = args
	case "env":
		session.Extra = session.Extra.With(args...)
	default:
		ts.Fatalf("claude: no step %q", step)
	}
}

// wholeTurn plays a prompt, a Write for each file, and a stop.
func wholeTurn(session *testkit.Session, paths []string) testkit.Result {
	session.Prompt("Please write " + strings.Join(paths, " and ") + ".")
	for _, path := range paths {
		session.Write(path, "by "+session.ID[:4]+": "+path+"\n")
	}
	session.Say("I wrote " + strings.Join(paths, " and ") + ".")
	return session.Stop()
}
