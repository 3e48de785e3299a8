package main

import "strings"

// sources returns the texts of a session that a statement may quote, normalized.
type sources struct{ t *transcript }

// person returns the text that the person typed, picked or accepted.
func (s sources) person() string {
	return s.t.texts(request, pick, denial) + s.plans()
}

// plans returns the plans that the agent offered, normalized.
func (s sources) plans() string {
	var b strings.Builder
	for _, e := range s.t.events {
		if e.kind == toolCall && e.call.name == "ExitPlanMode" {
			b.WriteString(letters(e.call.input.Plan))
			b.WriteByte('\n')
			b.WriteString(letters(e.call.output))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// agent returns the text that the agent wrote, its plans and its list.
func (s sources) agent() string {
	return s.t.texts(reply, summary) + s.plans() + s.list()
}

// list returns the items of the agent's list and its questions, normalized.
func (s sources) list() string {
	var b strings.Builder
	for _, e := range s.t.events {
		if e.kind == toolCall && (strings.HasPrefix(e.call.name, "Task") || e.call.name == "TodoWrite" || e.call.name == "AskUserQuestion") {
			b.WriteString(letters(e.call.inputs))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// denied returns the inputs of the calls that the person denied, normalized.
func (s sources) denied() string {
	var b strings.Builder
	for _, e := range s.t.events {
		if e.kind == denial {
			b.WriteString(letters(e.call.name + " " + e.call.inputs + " " + e.text))
		}
	}
	return b.String()
}
