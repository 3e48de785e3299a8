package quoted

import (
	"slices"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// quoting is a JSON document as a list of its objects and strings.
type quoting struct {
	doc     []byte
	objects []object
	strings []value
	cwd     string
	hit     bool // the document is the result of a call that named a file
}

// object is an object. An object comes after the one that it is in.
type object struct {
	in  int    // the object that it is in, -1 for none
	key string // of the member that it is, or is in an array of

	id, result   string // its members id and tool_use_id
	named        bool   // it names a file
	asks, writes bool   // it has a command that names one; the command may write it
	content      bool   // its strings are of the file
}

// value is the inside of a string.
type value struct {
	from, to int
	object   int    // the object that it is in, -1 for none
	key      string // of the member that it is, or is in an array of
	isKey    bool
}

// readQuoting reads a valid document.
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
			r.objects = append(r.objects, object{in: top.object, key: top.key})
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
			end := transcript.EndOfString(doc, i+1)
			if end < 0 {
				return r
			}
			found := value{from: i + 1, to: end, object: top.object, key: top.key, isKey: wantsKey}
			if wantsKey {
				top.key, wantsKey = string(doc[found.from:found.to]), false
			}
			r.strings = append(r.strings, found)
			i = end
		}
	}
	return r
}

// maxDepth bounds how far isOf searches.
const maxDepth = 64

// isOf reports whether an object is a member of one of the keys, or is in such an object.
func (r *quoting) isOf(object int, keys ...string) bool {
	for depth := 0; object >= 0 && depth < maxDepth; depth, object = depth+1, r.objects[object].in {
		if slices.Contains(keys, r.objects[object].key) {
			return true
		}
	}
	return false
}

// calls finds the objects that name a file, and remembers the calls among them.
func (r *quoting) calls(q *Files) {
	for _, s := range r.strings {
		if !s.isKey && s.key == "cwd" && s.object >= 0 && r.objects[s.object].in < 0 {
			r.cwd = transcript.Unescaped(r.doc[s.from:s.to])
		}
	}
	for _, s := range r.strings {
		if s.isKey || s.object < 0 {
			continue
		}
		o := &r.objects[s.object]
		switch s.key {
		case "id":
			o.id = transcript.Unescaped(r.doc[s.from:s.to])
		case "tool_use_id":
			o.result = transcript.Unescaped(r.doc[s.from:s.to])
		case "file_path", "filePath", "notebook_path", "notebookPath":
			o.named = o.named || q.isNamed(transcript.Unescaped(r.doc[s.from:s.to]), r.cwd)
		case "path", "filename":
			if r.isOf(s.object, "message", "toolUseResult", "attachment", "input", "tool_input", "tool_response") {
				o.named = o.named || q.isNamed(transcript.Unescaped(r.doc[s.from:s.to]), r.cwd)
			}
		case "command":
			if command := transcript.Unescaped(r.doc[s.from:s.to]); q.namedIn(command, r.cwd) {
				o.asks, o.writes = true, o.writes || isWriting(command)
			}
		}
	}
	for _, o := range r.objects {
		if (o.named || o.asks) && o.key == "input" && o.in >= 0 {
			q.remember(r.objects[o.in].id)
		}
	}
}

// results finds the objects whose strings are of a file.
func (r *quoting) results(q *Files) {
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

// quotes reports whether a string is of a file as a whole.
func (r *quoting) quotes(s value) bool {
	switch s.key {
	case "type", "id", "tool_use_id", "name", "uuid", "parentUuid", "sessionId", "session_id", "timestamp", "cwd",
		"file_path", "filePath", "path", "filename", "notebook_path", "notebookPath", "displayPath",
		"mode", "media_type", "cell_id", "cell_type", "edit_mode", "output_mode", "status", "version":
		return false
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
