package transcript

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
)

// maxRememberedCalls is the maximum number of tool calls whose ids are remembered.
const maxRememberedCalls = 20_000

// QuotedFiles finds quotations of files in transcripts and in records made of them: inputs and
// results of tools, and lines of the files anywhere else. It remembers the calls that named a file,
// so that their results are found in later lines. It is safe for concurrent use.
type QuotedFiles struct {
	files []quotedFile
	roots []string
	lines *forgotten.Lines

	mu    sync.Mutex
	calls map[string]bool
}

// quotedFile is a file, by its path relative to the root of a worktree.
type quotedFile struct {
	path string
	hint []byte // contained in every line that names the file; nil if it may be escaped
}

// NewQuotedFiles returns a QuotedFiles for paths, which are slash-separated and relative to the
// root of a worktree. roots are the known worktrees. lines may be nil.
func NewQuotedFiles(paths, roots []string, lines *forgotten.Lines) *QuotedFiles {
	q := &QuotedFiles{roots: roots, lines: lines, calls: map[string]bool{}}
	for _, p := range paths {
		f := quotedFile{path: p, hint: []byte(path.Base(p))}
		if bytes.ContainsFunc(f.hint, func(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`"\/<>&`, c) }) {
			f.hint = nil // it may be escaped
		}
		q.files = append(q.files, f)
	}
	return q
}

// Has reports whether data contains a quotation.
func (q *QuotedFiles) Has(data []byte) bool { return len(q.Spans(data)) > 0 }

// Mask replaces the quotations in data by REDACTED. JSON stays valid.
func (q *QuotedFiles) Mask(data []byte) []byte {
	return forgotten.MaskSpans(data, q.Spans(data), false)
}

// MaskInPlace is like Mask, but keeps the length of data.
func (q *QuotedFiles) MaskInPlace(data []byte) []byte {
	return forgotten.MaskSpans(data, q.Spans(data), true)
}

// Learn remembers the calls in data that name a file.
func (q *QuotedFiles) Learn(data []byte) {
	q.eachDocument(data, func(from, to int, isJSON bool) {
		if doc := data[from:to]; isJSON && q.mayName(doc) {
			readQuoting(doc).calls(q)
		}
	})
}

// Spans returns the quotations in data, sorted and without overlaps.
func (q *QuotedFiles) Spans(data []byte) []forgotten.Span {
	var spans []forgotten.Span
	q.eachDocument(data, func(from, to int, isJSON bool) {
		if isJSON {
			spans = q.document(data, from, to, spans)
		} else {
			spans = q.text(data, from, to, spans)
		}
	})
	return spans
}

// eachDocument splits data into texts and JSON documents, each a line or the whole data.
func (q *QuotedFiles) eachDocument(data []byte, visit func(from, to int, isJSON bool)) {
	if isDocument(data) {
		visit(0, len(data), true)
		return
	}
	for from := 0; from < len(data); {
		to := len(data)
		if n := bytes.IndexByte(data[from:], '\n'); n >= 0 {
			to = from + n + 1
		}
		visit(from, to, isDocument(data[from:to]))
		from = to
	}
}

func isDocument(data []byte) bool {
	first := bytes.TrimLeft(data, " \t\r\n")
	return len(first) > 0 && (first[0] == '{' || first[0] == '[') && json.Valid(data)
}

// text finds quotations in a text: lines of the files, and lines that begin with a file's path, as
// printed by grep.
func (q *QuotedFiles) text(data []byte, from, to int, spans []forgotten.Span) []forgotten.Span {
	n := len(spans)
	if q.lines != nil {
		spans = q.lines.Spans(data, from, to, spans)
	}
	if !q.mayName(data[from:to]) {
		return spans
	}
	for _, f := range q.files {
		for at := from; ; {
			i := bytes.Index(data[at:to], []byte(f.path+":"))
			if i < 0 {
				break
			}
			begin := at + i
			at = begin + len(f.path) + 1
			// The path must begin a line, apart from a root before it.
			before := data[from:begin]
			for _, root := range append([]string{"./"}, q.roots...) {
				before = bytes.TrimSuffix(before, []byte(strings.TrimSuffix(root, "/")+"/"))
			}
			if len(before) > 0 && before[len(before)-1] != '\n' && !bytes.HasSuffix(before, []byte(`\n`)) {
				continue
			}
			end := endOfLine(data, at, to)
			if at < end && !forgotten.IsMask(data[at:end]) {
				spans = append(spans, forgotten.Span{From: at, To: end})
			}
			at = end
		}
	}
	return append(spans[:n], forgotten.Disjoint(spans[n:])...)
}

// endOfLine returns the end of a line of a text: the next newline or escaped newline.
func endOfLine(data []byte, from, to int) int {
	for i := from; i < to; i++ {
		if data[i] == '\n' {
			return i
		}
		if data[i] != '\\' {
			continue
		}
		end := i
		for end < to && data[end] == '\\' {
			end++
		}
		if end < to && (data[end] == 'n' || data[end] == 'r') {
			return i
		}
		i = end
	}
	return to
}

// mayName reports whether data may name one of the files.
func (q *QuotedFiles) mayName(data []byte) bool {
	for _, f := range q.files {
		if f.hint == nil || bytes.Contains(data, f.hint) {
			return true
		}
	}
	return false
}

// mayAnswer reports whether data may be the result of a call.
func (q *QuotedFiles) mayAnswer(data []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.calls) > 0 && slices.ContainsFunc([]string{`"tool_use_id"`, `"toolCallId"`, `"callId"`, `"call_id"`, `"functionResponse"`}, func(key string) bool {
		return bytes.Contains(data, []byte(key))
	})
}

// document finds the quotations in the JSON document data[from:to].
func (q *QuotedFiles) document(data []byte, from, to int, spans []forgotten.Span) []forgotten.Span {
	doc := data[from:to]
	named := q.mayName(doc)
	if !named && q.lines == nil && !q.mayAnswer(doc) {
		return spans
	}
	r := readQuoting(doc)
	r.calls(q)
	r.results(q)
	for _, s := range r.strings {
		begin, end := from+s.from, from+s.to
		switch {
		case s.isKey || begin == end || forgotten.IsMask(data[begin:end]):
		case r.quotes(s), !r.isLabel(s) && r.isReturned(q, s):
			spans = append(spans, forgotten.Span{From: begin, To: end})
		default:
			spans = q.text(data, begin, end, spans)
		}
	}
	return spans
}

// isNamed reports whether a value is the path of one of the files, for a program in the directory
// cwd, empty if unknown.
func (q *QuotedFiles) isNamed(value, cwd string) bool {
	value = strings.TrimPrefix(value, "./")
	return slices.ContainsFunc(q.files, func(f quotedFile) bool {
		above, found := strings.CutSuffix(value, f.path)
		switch {
		case !found:
			return false
		case above == "":
			return true
		case !strings.HasSuffix(above, "/"):
			return false
		}
		above = strings.TrimSuffix(above, "/")
		if slices.Contains(q.roots, above) {
			return true
		}
		// For another clone's transcript: its root is at or above its working directory.
		return cwd == "" && strings.Contains(f.path, "/") || above != "" && (cwd == above || strings.HasPrefix(cwd, above+"/"))
	})
}

// namedIn reports whether a command names one of the files.
func (q *QuotedFiles) namedIn(command, cwd string) bool {
	odd := func(f quotedFile) bool {
		return strings.ContainsFunc(f.path, isNoPath) && strings.Contains(command, f.path)
	}
	return slices.ContainsFunc(strings.FieldsFunc(command, isNoPath), func(word string) bool { return q.isNamed(word, cwd) }) ||
		slices.ContainsFunc(q.files, odd)
}

// isNoPath reports whether a character separates the words of a command.
func isNoPath(c rune) bool { return strings.ContainsRune(" \t\n\r\"'`()<>|;&=,{}$:", c) }

// remember records the id of a call that named a file.
func (q *QuotedFiles) remember(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if id != "" && len(q.calls) < maxRememberedCalls {
		q.calls[id] = true
	}
}

func (q *QuotedFiles) isCall(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return id != "" && q.calls[id]
}
