package digest

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// agent adds a message of the agent to the digest.
func (r *reader) agent(e *transcript.Event) {
	if e.Failed {
		r.Troubles.add(Trouble{Kind: FailedTurn, Text: item(e.Said(), r.redact)})
		return
	}
	r.Troubles.drop(func(t Trouble) bool { return t.Kind == FailedTurn })
	// A message has several lines, and the first may report fewer tokens than were used.
	// Take the maximum.
	if e.Model != "" {
		r.Model = plain.Head(plain.Clean(e.Model), maxName)
	}
	id := plain.Head(e.MessageID, maxName)
	switch {
	case e.Context <= 0:
	case id != "" && id == r.MessageID:
		r.Tokens = max(r.Tokens, e.Context)
	default:
		r.Tokens, r.MessageID = e.Context, id
	}
	r.Acted, r.Plan.Begun = true, r.Plan.Accepted
	if len(e.Raw()) > 0 {
		r.said(e) // before the text before it is replaced
		r.PlanOffered, r.Ended = false, true
		r.SaidAt, r.Worked, r.Doing = r.Prompts, false, ""
		r.text.set(e.Raw())
	}
	for _, use := range e.Uses {
		r.PlanOffered, r.Ended = false, false
		r.call = lastCall{use.Tool, firstOf(use.Input, "file_path", "command", "notebook_path", "description", "pattern", "url", "query", "subject", "skill")}
		r.called(use)
	}
}

// called adds a tool call to the digest.
func (r *reader) called(use transcript.ToolUse) {
	call := Call{ID: plain.Head(use.ID, maxName), Tool: use.Tool}
	if transcript.IsEdit(use.Tool) {
		call.Text = r.path(firstOf(use.Input, "file_path", "notebook_path"))
		call.Old, call.New = replacement(use.Input)
		r.open(call)
		return
	}
	switch use.Tool {
	case "Task", "Agent": // a subagent
	case "Read", "NotebookRead":
		call.Text = r.path(firstOf(use.Input, "file_path", "notebook_path"))
	case "Bash":
		r.command(&call, use.Input)
	case "BashOutput", "TaskOutput": // of a command or a subagent in the background
		call.Text = item(firstOf(use.Input, "task_id", "bash_id", "agentId"), r.redact)
	case "WebFetch":
		call.Text = item(use.Input.Member("url").Text(), r.redact)
	case "TaskCreate":
		call.Text = item(use.Input.Member("subject").Text(), r.redact)
	case "TodoWrite":
		before := r.Tasks
		r.Tasks = nil
		for todo := range use.Input.Member("todos").Items() {
			r.Tasks.add(Task{Text: item(todo.Member("content").Text(), r.redact), State: taskState(todo.Member("status").Text())})
		}
		r.begin(before)
		return
	case "TaskUpdate":
		before := slices.Clone(r.Tasks)
		r.Tasks.update(use.Input, r.redact)
		r.begin(before)
		return
	case "ExitPlanMode":
		r.PlanOffered = true
		if plan := use.Input.Member("plan").Text(); plan != "" {
			r.Plan = planOf(plan, r.redact)
			r.Plan.At = r.Prompts
		}
	case "AskUserQuestion":
		r.Question = lastAsked(use.Input, r.redact)
	default:
		return
	}
	r.open(call)
}

// open adds a call whose result is pending.
func (d *Digest) open(call Call) {
	if call.ID == "" {
		return
	}
	d.Open = slices.DeleteFunc(d.Open, func(c Call) bool { return c.ID == call.ID })
	d.Open = plain.Last(append(d.Open, call), plain.Bound{Items: 64, Bytes: 16 << 10}, Call.weight)
}

// begin records the task that has become in progress, unless the agent's last text, with no
// edit after it, is about it.
func (d *Digest) begin(before Tasks) {
	if !d.Worked {
		return
	}
	for _, t := range d.Tasks {
		if t.State == "in_progress" && !slices.Contains(before, t) {
			d.Doing = plain.Shorten(t.Text, maxWhy)
		}
	}
}

func (c Call) weight() int {
	const fields = 96 // their names, and the numbers
	n := plain.JSONSize(c.ID) + plain.JSONSize(c.Tool) + plain.JSONSize(c.Text) + fields
	for _, path := range c.Shown {
		n += plain.JSONSize(path) + len(`"",`)
	}
	for _, g := range c.Git {
		n += plain.JSONSize(g.Command) + plain.JSONSize(g.Subject) + fields
		for _, path := range g.Arguments {
			n += plain.JSONSize(path) + len(`"",`)
		}
	}
	return n
}

// firstOf returns the text of the first of the named members that is not empty.
func firstOf(v transcript.Value, keys ...string) string {
	for _, key := range keys {
		if text := v.Member(key).Text(); text != "" {
			return text
		}
	}
	return ""
}

// path returns the redacted absolute path of a file, or "" if there is none or it is too
// long.
func (r *reader) path(path string) string {
	path = shellcmd.ResolvePath(path, r.Cwd)
	if path == "" || plain.JSONSize(path) > maxPath {
		return ""
	}
	if slices.Contains(r.Edited, path) || slices.Contains(r.Read, path) {
		return path // already redacted
	}
	return r.redact.Path(path)
}

// command adds a shell command to its call. Text is its first line, redacted.
func (r *reader) command(call *Call, input transcript.Value) {
	text := strings.TrimSpace(input.Member("command").Text())
	line := shellcmd.Split(text)
	call.Checks = line.Checks()
	if call.Checks == 0 {
		call.Checks = shellcmd.DescribedChecks(input.Member("description").Text())
	}
	call.Judge, call.Trivial = line.Judge(), line.Trivial() && call.Checks == 0
	if input.Member("run_in_background").True() {
		call.Judge, call.Background = shellcmd.Never, true
	}
	for _, path := range line.Files(r.Cwd) {
		const most = 16
		if path = r.path(path); path != "" && len(call.Shown) < most {
			call.Shown = append(call.Shown, path)
		}
	}
	if !call.Trivial {
		first, more, _ := strings.Cut(text, "\n")
		if more = strings.TrimSpace(more); more != "" && strings.Contains(first, "git commit ") {
			subject, _, _ := strings.Cut(more, "\n") // the message is usually a here-document
			first += " " + strings.TrimSpace(subject)
		}
		if more != "" {
			first = strings.TrimRight(first, " \\") + " " + plain.Ellipsis
		}
		if slices.ContainsFunc(r.Commands, func(c recall.Command) bool { return c.Text == first }) {
			call.Text = first
		} else {
			call.Text = item(first, r.redact)
		}
	}
	call.Reference, _ = line.Reference()
	call.Git, call.UsesGit = line.GitCommands(r.Cwd), line.Runs("git")
	// Drop commands in directories that can't be in the session's repository, such as one
	// made by a test below /tmp: those that neither contain nor are below the session's
	// directory, and have no edited file.
	contains := func(dir, path string) bool { return strings.HasPrefix(path+"/", strings.TrimSuffix(dir, "/")+"/") }
	call.Git = slices.DeleteFunc(call.Git, func(g shellcmd.Git) bool {
		return g.Dir != "" && r.Cwd != "" && !contains(g.Dir, r.Cwd) && !contains(r.Cwd, g.Dir) &&
			!slices.ContainsFunc(r.Edited, func(path string) bool { return contains(g.Dir, path) })
	})
	for i := range call.Git {
		g := &call.Git[i]
		g.Subject, g.Dir = item(g.Subject, r.redact), "" // the digest doesn't have the folder
		for k, path := range g.Arguments {
			g.Arguments[k] = plain.Head(r.redact.Path(path), maxPath)
		}
	}
}
