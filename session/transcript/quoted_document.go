package transcript

import (
	"slices"
	"strings"
)

// quoting is a JSON document as lists of its objects and strings.
type quoting struct {
	doc     []byte
	objects []quotedObject
	strings []quotedValue
	cwd     string
	hit     bool // the document is the result of a call that named a file
}

// quotedObject is a JSON object. Objects come after their parent objects.
type quotedObject struct {
	in  int    // index of the parent object, -1 for none
	key string // key of the member that contains it, directly or in an array

	id, result   string // ids of its call, and of the call that returned it
	named        bool   // it names a file
	asks, writes bool   // a command in it names a file; the command may write it
	answers      bool   // it is a message with a call's result
	content      bool   // its strings are content of a file
}

// quotedValue is the inside of a JSON string.
type quotedValue struct {
	from, to int
	object   int    // index of the parent object, -1 for none
	key      string // key of the member that contains it, directly or in an array
	isKey    bool
}

// readQuoting lists the objects and strings of a valid document.
func readQuoting(doc []byte) *quoting {
	r := &quoting{doc: doc}
	type frame struct {
		object int // -1 for none
		key    string
		list   bool
	}
	stack, wantsKey := []frame{{object: -1, list: true}}, false
	for i := 0; i < len(doc); i++ {
		top := &stack[len(stack)-1]
		switch doc[i] {
		case '{':
			r.objects = append(r.objects, quotedObject{in: top.object, key: top.key})
			stack, wantsKey = append(stack, frame{object: len(r.objects) - 1}), true
		case '[':
			stack, wantsKey = append(stack, frame{object: top.object, key: top.key, list: true}), false
		case '}', ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			wantsKey = false
		case ',':
			wantsKey = !top.list
		case '"':
			end := EndOfString(doc, i+1)
			if end < 0 {
				return r
			}
			found := quotedValue{from: i + 1, to: end, object: top.object, key: top.key, isKey: wantsKey}
			if wantsKey {
				top.key, wantsKey = string(doc[found.from:found.to]), false
			}
			r.strings = append(r.strings, found)
			i = end
		}
	}
	return r
}

// maxQuotingDepth is the maximum number of objects that isOf visits.
const maxQuotingDepth = 64

// isOf reports whether an object, or one around it, is the value of one of the keys.
func (r *quoting) isOf(object int, keys ...string) bool {
	for depth := 0; object >= 0 && depth < maxQuotingDepth; depth, object = depth+1, r.objects[object].in {
		if slices.Contains(keys, r.objects[object].key) {
			return true
		}
	}
	return false
}

// calls marks the objects that name a file and remembers the calls among them.
func (r *quoting) calls(q *QuotedFiles) {
	for _, s := range r.strings {
		if !s.isKey && s.key == "cwd" && s.object >= 0 && r.objects[s.object].in < 0 {
			r.cwd = Unescaped(r.doc[s.from:s.to])
		}
	}
	for _, s := range r.strings {
		if s.isKey || s.object < 0 {
			continue
		}
		o := &r.objects[s.object]
		switch s.key {
		case "id", "callID", "toolCallId", "call_id", "callId":
			o.id = Unescaped(r.doc[s.from:s.to])
		case "tool_use_id":
			o.result = Unescaped(r.doc[s.from:s.to])
		case "file_path", "filePath", "notebook_path", "notebookPath":
			o.named = o.named || q.isNamed(Unescaped(r.doc[s.from:s.to]), r.cwd)
		case "path", "filename":
			if r.isOf(s.object, "message", "toolUseResult", "attachment", "input", "tool_input", "tool_response", "arguments", "args") {
				o.named = o.named || q.isNamed(Unescaped(r.doc[s.from:s.to]), r.cwd)
			}
		case "role":
			o.answers = o.answers || string(r.doc[s.from:s.to]) == "toolResult"
		case "command":
			if command := Unescaped(r.doc[s.from:s.to]); q.namedIn(command, r.cwd) {
				// Such a command may contain the content of a file that it names.
				writers := []string{"tee ", "sed ", "printf ", "echo ", "perl ", "python", "<", ">"}
				isWriting := slices.ContainsFunc(writers, func(word string) bool { return strings.Contains(command, word) })
				o.asks, o.writes = true, o.writes || isWriting
			}
		}
	}
	for i := range r.objects {
		o := &r.objects[i]
		if o.in >= 0 && r.objects[o.in].key == "changes" { // maps files to changes
			o.named = o.named || q.isNamed(Unescaped([]byte(o.key)), r.cwd)
		}
		switch {
		case !o.named && !o.asks:
		case slices.Contains([]string{"input", "args", "arguments"}, o.key):
			q.remember(r.callOf(o.in))
		case o.asks: // the call and its result are one object
			q.remember(o.id)
		}
	}
}

// callOf returns the id of the call that contains an object, "" if there is none.
func (r *quoting) callOf(object int) string {
	const near = 2 // the call, or a state in it
	for depth := 0; object >= 0 && depth < near; depth, object = depth+1, r.objects[object].in {
		if id := r.objects[object].id; id != "" {
			return id
		}
	}
	return ""
}

// isReturned reports whether a string belongs to the result of a call that named a file: to a
// result member of the object with the call's id, or to an object of the result.
func (r *quoting) isReturned(q *QuotedFiles, s quotedValue) bool {
	const far = 6
	held := slices.Contains(outputKeys(), s.key)
	for depth, at := 0, s.object; at >= 0 && depth < far; depth, at = depth+1, r.objects[at].in {
		o := r.objects[at]
		held = held || o.key == "functionResponse"
		if o.id != "" && q.isCall(o.id) {
			return held || o.answers
		}
		held = held || slices.Contains(outputKeys(), o.key)
	}
	return false
}

// outputKeys returns the keys of calls and results under which a tool's output is stored.
func outputKeys() []string {
	return []string{
		"output", "aggregated_output", "formatted_output", "stdout", "stderr", "result", "results", "response", "resultDisplay", "metadata", "details",
	}
}

// results marks the objects whose strings are content of a file.
func (r *quoting) results(q *QuotedFiles) {
	results := 0
	for i, o := range r.objects {
		if o.result != "" {
			results++
		}
		r.hit = r.hit || o.result != "" && q.isCall(o.result) || o.named && r.isOf(i, "toolUseResult")
	}
	for i := range r.objects {
		o := &r.objects[i]
		o.content = o.named || o.in >= 0 && r.objects[o.in].content || r.hit && o.key == "toolUseResult"
		if o.result != "" && (q.isCall(o.result) || r.hit && results == 1) {
			o.content = true
			q.remember(o.result)
		}
	}
}

// isLabel reports whether a string belongs to a member that never holds content of a file.
func (r *quoting) isLabel(s quotedValue) bool {
	switch s.key {
	case "type", "id", "tool_use_id", "name", "uuid", "parentUuid", "sessionId", "session_id", "timestamp", "cwd",
		"file_path", "filePath", "path", "filename", "notebook_path", "notebookPath", "displayPath",
		"mode", "media_type", "callID", "toolCallId", "call_id", "callId", "tool", "toolName", "role", "fileName", "cell_id", "cell_type", "edit_mode", "output_mode", "status", "version":
		return true
	}
	return false
}

// quotes reports whether the whole string is content of a file.
func (r *quoting) quotes(s quotedValue) bool {
	if r.isLabel(s) {
		return false
	}
	switch s.key {
	case "toolUseResult":
		if r.hit {
			return true
		}
	case "command":
		if s.object >= 0 && r.objects[s.object].writes {
			return true
		}
	}
	return s.object >= 0 && r.objects[s.object].content
}
