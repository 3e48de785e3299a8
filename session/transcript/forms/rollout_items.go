package forms

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
)

// IsBareRollout reports whether a line is the first line of a rollout of an early version of Codex,
// which had no envelope around its lines.
func IsBareRollout(line []byte) bool {
	begin := line[:min(len(line), far)]
	has := func(member string) bool { return bytes.Contains(begin, []byte(member)) }
	return (startsWith(line, `"id":`) || startsWith(line, `"git":`)) && has(`"id":`) && has(`"instructions":`) && !has(`"type":`)
}

// item is an item that Codex exchanges with the model.
type item struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Call    string          `json:"call_id"`
	Name    string          `json:"name"`
	Args    string          `json:"arguments"`
	Input   string          `json:"input"`
	Output  json.RawMessage `json:"output"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// text returns the text of a message, without the texts that Codex wrote in a person's name.
func (p *item) text() string {
	var texts []string
	for _, part := range p.Content {
		if text := strings.TrimSpace(part.Text); text != "" && (p.Role != "user" || !isCodexContext(text)) {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// patch returns the changes that a call requests with the tool apply_patch, which early versions called
// through a shell.
func (p *item) patch() map[string]codexChange {
	var in struct {
		Input   string          `json:"input"`
		Command json.RawMessage `json:"command"`
		Cmd     string          `json:"cmd"`
		Dir     string          `json:"workdir"`
	}
	_ = json.Unmarshal([]byte(p.Args), &in) // unreadable fields stay empty
	text := p.Input + in.Input
	switch p.Name {
	case "apply_patch":
	case "shell", "shell_command", "exec_command", "local_shell":
		var words []string
		command := in.Cmd
		if json.Unmarshal(in.Command, &words) == nil {
			command = shellCommand(words)
		} else if command == "" {
			_ = json.Unmarshal(in.Command, &command)
		}
		begin, rest, found := strings.Cut(command, "*** Begin Patch")
		if !found || !strings.HasPrefix(strings.TrimSpace(begin), "apply_patch") {
			return nil
		}
		text, _, _ = strings.Cut(rest, "*** End Patch")
	default:
		return nil
	}
	changes := patchChanges(text)
	if !path.IsAbs(in.Dir) {
		return changes
	}
	absolute := make(map[string]codexChange, len(changes))
	for name, c := range changes {
		if !path.IsAbs(name) {
			name = path.Join(in.Dir, name)
		}
		if c.Move != "" && !path.IsAbs(c.Move) {
			c.Move = path.Join(in.Dir, c.Move)
		}
		absolute[name] = c
	}
	return absolute
}

// itemOf returns the item in a line of Codex, an empty one if it has none.
func itemOf(line []byte) (p item) {
	raw := json.RawMessage(line)
	if startsWith(line, `"timestamp":`) {
		var c codexEnvelope
		if json.Unmarshal(line, &c) != nil || c.Type != "response_item" {
			return p
		}
		raw = c.Payload
	}
	_ = json.Unmarshal(raw, &p) // unreadable fields stay empty
	return p
}

// CodexDir returns the folder that Codex describes to the model in a line, "" if it describes none.
func CodexDir(line []byte) string {
	if !bytes.Contains(line, []byte("<environment_context>")) {
		return ""
	}
	p := itemOf(line)
	for _, part := range p.Content {
		text, isContext := strings.CutPrefix(strings.TrimSpace(part.Text), "<environment_context>")
		if !isContext {
			continue
		}
		if _, rest, found := strings.Cut(text, "<cwd>"); found {
			dir, _, _ := strings.Cut(rest, "</cwd>")
			return strings.TrimSpace(dir)
		}
		if _, rest, found := strings.Cut(text, "Current working directory: "); found {
			dir, _, _ := strings.Cut(rest, "\n")
			return strings.TrimSpace(dir)
		}
	}
	return ""
}

// FirstEvent finds the first event of a message in the lines of a rollout of Codex. The items before it
// have no events.
type FirstEvent struct {
	n, cut int
	user   int // the last message of a person before the event, from 1, 0 if an answer followed it
	found  bool
}

// Line reads the next line, and reports whether it is an event of a message.
func (f *FirstEvent) Line(line []byte) bool {
	for _, event := range []string{"user_message", "agent_message", "item_completed"} {
		if hasType(line, event) {
			f.found, f.cut = true, f.n
			if f.user > 0 { // the event may be that of this message
				f.cut = f.user - 1
			}
			return true
		}
	}
	f.n++
	if hasType(line, "message") {
		switch p := itemOf(line); {
		case p.Type != "message":
		case p.Role == "assistant":
			f.user = 0
		case p.Role == "user" && p.text() != "":
			f.user = f.n
		}
	}
	return false
}

// Lacks reports whether the line n, from 0, has no event. All lines up to the first event must have been
// read.
func (f *FirstEvent) Lacks(n int) bool { return !f.found || n < f.cut }

// Items adds the events of messages and patches to the lines of a rollout of Codex without them. Versions
// up to 2026 wrote events of messages, and none of patches.
type Items struct {
	// Dir is the folder of the session. It is added to a first line without envelope.
	Dir string

	time    string                            // of the first line, for lines without a time
	patches map[string]map[string]codexChange // by the id of the call, until an event or the output follows
}

// event is an event of Codex in its envelope.
type event struct {
	Time    string       `json:"timestamp"`
	Type    string       `json:"type"`
	Payload eventPayload `json:"payload"`
}

type eventPayload struct {
	Type    string                 `json:"type"`
	Message string                 `json:"message,omitempty"`
	Reason  string                 `json:"reason,omitempty"`
	Call    string                 `json:"call_id,omitempty"`
	Success *bool                  `json:"success,omitempty"`
	Changes map[string]codexChange `json:"changes,omitempty"`
}

// Enveloped returns a line in an envelope, nil for one that only early versions have.
func (r *Items) Enveloped(line []byte) []byte {
	if !startsWith(bytes.TrimLeft(line, " "), `"`) || startsWith(line, `"timestamp":`) && bytes.Contains(line[:min(len(line), far)], []byte(`"payload":`)) {
		return line
	}
	var l struct {
		Type string  `json:"type"`
		Time string  `json:"timestamp"`
		Dir  *string `json:"cwd"`
		ID   string  `json:"id"`
	}
	if json.Unmarshal(line, &l) != nil {
		return line
	}
	if r.time == "" {
		r.time = l.Time
	}
	envelope := struct {
		Time    string          `json:"timestamp"`
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}{Time: r.time, Type: "response_item", Payload: line}
	switch {
	case l.Type != "":
	case IsBareRollout(line):
		envelope.Type = "session_meta"
		if l.Dir == nil && r.Dir != "" {
			dir, err := json.Marshal(r.Dir)
			if err != nil {
				return line
			}
			text := bytes.TrimLeft(bytes.TrimLeft(line, " ")[1:], " ")
			envelope.Payload = append(append(append([]byte(`{"cwd":`), dir...), ','), text...)
		}
	default: // a record of the client's state
		return nil
	}
	return encoded(envelope, line)
}

// encoded returns v as JSON, or line if v can't be encoded.
func encoded(v any, line []byte) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return line
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Lines returns a line in its envelope with the event that a later version would have written for it: that
// of a message only if messages is true, as they have no events, that of a patch if none came before its
// output.
func (r *Items) Lines(line []byte, messages bool) [][]byte {
	enveloped := r.Enveloped(line)
	if enveloped == nil {
		return nil
	}
	lines := [][]byte{enveloped}
	mayHaveEvent := messages && hasType(enveloped, "message") || len(r.patches) > 0 || bytes.Contains(enveloped, []byte("apply_patch"))
	if !mayHaveEvent || bytes.Contains(enveloped[:min(len(enveloped), far)], []byte(`"ordinal":`)) {
		return lines
	}
	var c codexEnvelope
	if json.Unmarshal(enveloped, &c) != nil || c.Type != "response_item" && c.Type != "event_msg" {
		return lines
	}
	var p item
	c.decode(&p)
	add := func(payload eventPayload) {
		lines = append(lines, encoded(event{Time: c.Time, Type: "event_msg", Payload: payload}, nil))
	}
	switch p.Type {
	case "patch_apply_end":
		delete(r.patches, p.Call)
	case "message":
		text := p.text()
		switch begin := strings.TrimSpace(text); {
		case !messages, text == "", strings.HasPrefix(begin, "<user_shell_command>"): // read without an event
		case p.Role == "user" && strings.HasPrefix(begin, "<turn_aborted>"):
			add(eventPayload{Type: "turn_aborted", Reason: "interrupted"})
		case p.Role == "user":
			add(eventPayload{Type: "user_message", Message: text})
		case p.Role == "assistant":
			add(eventPayload{Type: "agent_message", Message: text})
		}
	case "function_call", "custom_tool_call":
		if changes := p.patch(); len(changes) > 0 && p.Call != "" {
			if r.patches == nil {
				r.patches = map[string]map[string]codexChange{}
			}
			r.patches[p.Call] = changes
		}
	case "function_call_output", "custom_tool_call_output":
		changes, isPatch := r.patches[p.Call]
		if !isPatch {
			break
		}
		delete(r.patches, p.Call)
		success := !codexOutput(p.Call, p.Output).Message.Content[0].Failed
		id := p.Call
		if p.Type == "function_call_output" { // the call is read as that of another tool
			id += patchSuffix
		}
		add(eventPayload{Type: "patch_apply_end", Call: id, Success: &success, Changes: changes})
		lines[0], lines[1] = lines[1], lines[0] // the event precedes the output
	}
	return lines
}

// patchSuffix distinguishes the id of a patch from that of the call that requested it.
const patchSuffix = "-patch"
