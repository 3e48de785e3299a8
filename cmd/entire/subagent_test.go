package main

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// cmdSubagent plays a step of a subagent of the session:
//
//	subagent [-s NAME] AGENT start TEXT     the agent waits for it
//	                         launch TEXT    it runs in the background
//	                         write PATH TEXT | edit PATH OLD NEW | bash COMMAND | todo ITEM[*]...
//	                         stop           SubagentStop
//	                         done           the call returns
//	                         notify         the agent is told that it has ended
func cmdSubagent(s *story, args []string) {
	name, args := named(args)
	if len(args) < 2 {
		s.ts.Fatalf("usage: subagent [-s NAME] AGENT STEP ...")
	}
	for i := range args {
		args[i] = unescape(args[i])
	}
	key, step, args := name+" "+args[0], args[1], args[2:]
	session := s.session(name)
	var result testkit.Result
	switch step {
	case "start", "launch":
		mode := map[string]string{"launch": "background"}[step]
		s.agents[key] = session.Subagent(key, strings.Join(args, " "), mode)
		return
	}
	agent := s.agents[key]
	if agent == nil {
		s.ts.Fatalf("no subagent %q", key)
	}
	switch step {
	case "write":
		agent.Session.Write(arg(args, 0, ""), arg(args, 1, "")+"\n")
	case "edit":
		agent.Session.Edit(arg(args, 0, ""), arg(args, 1, ""), arg(args, 2, ""))
	case "bash":
		result = agent.Session.Bash(strings.Join(args, " "))
	case "todo":
		result = agent.Todo(args...)
	case "stop":
		result = agent.Stop()
	case "done":
		result = agent.Done()
	case "notify":
		result = session.Notify(agent.Notification())
	default:
		s.ts.Fatalf("subagent: no step %q", step)
	}
	_, _ = s.ts.Stdout().Write([]byte(result.Stdout))
}

// cmdTasks asserts the subjects on the session's shadow branch, newest first, and the task of
// each commit ("-" for none): tasks SUBJECT...
func cmdTasks(s *story, args []string) {
	var got []string
	for branch := range strings.FieldsSeq(s.repo().Git("for-each-ref", "--format=%(refname)", "refs/heads/entire/")) {
		if strings.HasSuffix(branch, "/v1") {
			continue
		}
		for line := range strings.Lines(s.repo().Git("log", "--format=%s%x09%(trailers:key=Entire-Metadata-Task,valueonly,separator=%x2C)", branch)) {
			subject, task, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
			if task == "" {
				subject = "- " + subject
			}
			got = append(got, toolID(subject))
		}
	}
	s.equal("shadow commits", got, args)
}

// toolID removes the id of a tool use from a subject: it differs between runs.
func toolID(subject string) string {
	before, _, found := strings.Cut(subject, "toolu_")
	if !found {
		return subject
	}
	return strings.TrimRight(before, "( ")
}

// cmdUsed asserts that a checkpoint counts the tokens of the session's subagents separately, in
// its share and in the root's: used [-s NAME] REV AGENT...
func cmdUsed(s *story, args []string) {
	name, args := named(args)
	var want testkit.Usage
	for _, agent := range args[1:] {
		want = want.Add(s.agents[name+" "+agent].Session.Transcript.Total())
	}
	stored := s.repo().Checkpoint(args[0])
	share := stored.Slot(scriptTB{s.ts}, s.session(name).ID).Meta.TokenUsage
	for what, t := range map[string]*testkit.Tokens{"session's": share, "root's": stored.Summary.TokenUsage} {
		if t == nil || t.Subagents.Usage() != want {
			s.ts.Fatalf("the %s token_usage is %+v, want subagents %v", what, t, want)
		}
	}
}
