package session_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session"
)

func TestTokensOfSubagentsStayApart(t *testing.T) {
	t.Parallel()
	sub := func(n int64) *session.Tokens { return &session.Tokens{Output: n, Calls: 1} }
	for name, c := range map[string]struct{ got, want session.Tokens }{
		"plus":          {session.Tokens{Output: 1, Subagents: sub(2)}.Plus(session.Tokens{Output: 3, Subagents: sub(4)}), session.Tokens{Output: 4, Subagents: &session.Tokens{Output: 6, Calls: 2}}},
		"one has none":  {session.Tokens{Output: 1}.Plus(session.Tokens{Subagents: sub(4)}), session.Tokens{Output: 1, Subagents: sub(4)}},
		"neither":       {session.Tokens{Output: 1}.Plus(session.Tokens{}), session.Tokens{Output: 1}},
		"minus":         {session.Tokens{Output: 5, Subagents: &session.Tokens{Output: 7, Calls: 3}}.Minus(session.Tokens{Output: 1, Subagents: sub(2)}), session.Tokens{Output: 4, Subagents: &session.Tokens{Output: 5, Calls: 2}}},
		"nothing left":  {session.Tokens{Output: 5, Subagents: sub(2)}.Minus(session.Tokens{Output: 1, Subagents: sub(2)}), session.Tokens{Output: 4}},
		"minus nothing": {session.Tokens{Subagents: sub(2)}.Minus(session.Tokens{}), session.Tokens{Subagents: sub(2)}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	a := session.Tokens{Subagents: sub(2)}
	b := a.Plus(session.Tokens{})
	b.Subagents.Output = 99
	if a.Subagents.Output != 2 {
		t.Error("a sum shares its counts with what it is the sum of")
	}
}

func TestTasksAreBounded(t *testing.T) {
	t.Parallel()
	var r session.Recorder
	name := func(i int) string { return fmt.Sprintf("t%d", i) }
	find := func(id string) *session.Task {
		return r.FindTask(func(t *session.Task) bool { return t.ToolUse == id })
	}
	for i := range 200 {
		r.AddTask(session.Task{ToolUse: name(i)})
	}
	find("t5").Phase = session.TaskDone
	r.AddTask(session.Task{ToolUse: "new"})
	if len(r.Tasks) != 200 || find("t5") != nil || find("t0") == nil || find("new") == nil {
		t.Errorf("%d tasks; the one that is done goes first", len(r.Tasks))
	}
	r.AddTask(session.Task{ToolUse: "newer"})
	if len(r.Tasks) != 200 || find("t0") != nil {
		t.Errorf("%d tasks; then the oldest goes", len(r.Tasks))
	}
	find("t7").Phase = session.TaskDone
	*find("t8") = session.Task{ToolUse: "t8", Phase: session.TaskDone, Turn: "kept", Stored: []string{"blob"}}
	r.DropTasks(func(turn string) bool { return turn == "kept" })
	if len(r.Tasks) != 199 || find("t7") != nil {
		t.Errorf("%d tasks are left", len(r.Tasks))
	}
	if kept := find("t8"); kept == nil || len(kept.Stored) > 0 {
		t.Errorf("the task of a turn that is kept is %v", kept)
	}
}
