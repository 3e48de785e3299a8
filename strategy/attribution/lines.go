package attribution

import (
	"bytes"

	"github.com/seed-3aff656d/entire/internal/linediff"
)

// texts assigns numbers to lines, so that equal lines have the same number.
type texts struct {
	known map[string]int
	// trimmed numbers lines without surrounding white space. loose maps the number of a line to
	// that of its trimmed form.
	trimmed map[string]int
	loose   []int
	// sizes holds the numbers of letters and digits of trimmed lines, by their numbers.
	sizes []int
	// counts reports for each line whether it is significant.
	counts []bool
	lines  []lineTokens
	// tokens and forms number the tokens, and the sequences of tokens of lines.
	tokens, forms map[string]int
	last          comparison
	// unix reports whether a carriage return at the end of a line is ignored: git's contents of
	// this file have none, so that only the worktree can.
	unix bool
}

// lineTokens is a line with its tokens. words is nil until needed, and form none.
type lineTokens struct {
	text   string
	words  []int
	marker int // the first token if it marks a comment, else none
	form   int
}

// newTexts returns texts that distinguish line ends if a content has a carriage return before one.
func newTexts(contents ...[]byte) *texts {
	t := &texts{known: map[string]int{}, trimmed: map[string]int{}, tokens: map[string]int{}, forms: map[string]int{}, unix: true}
	for _, content := range contents {
		t.unix = t.unix && !bytes.Contains(content, []byte("\r\n"))
	}
	return t
}

// split returns the numbers of the lines of a content. As in git, a last line without a newline
// differs from the same line with one.
func (t *texts) split(content []byte) []int {
	lines := make([]int, 0, bytes.Count(content, []byte{'\n'})+1)
	for len(content) > 0 {
		line := content
		if end := bytes.IndexByte(content, '\n'); end >= 0 {
			line = content[:end+1]
		}
		content = content[len(line):]
		if t.unix && bytes.HasSuffix(line, []byte("\r\n")) {
			line = append(line[:len(line)-2:len(line)-2], '\n')
		}
		id, ok := t.known[string(line)]
		if !ok {
			id = len(t.known)
			t.known[string(line)] = id
			t.lines = append(t.lines, lineTokens{text: string(line), form: none})
			text := bytes.TrimSpace(line)
			loose, ok := t.trimmed[string(text)]
			if !ok {
				loose = len(t.trimmed)
				t.trimmed[string(text)] = loose
				t.sizes = append(t.sizes, linediff.Letters(string(text)))
			}
			t.loose, t.counts = append(t.loose, loose), append(t.counts, Significant(text))
		}
		lines = append(lines, id)
	}
	return lines
}

func (t *texts) isSignificant(line int) bool { return t.counts[line] }

// share reports whether two contents have a line in common.
func share(a, b []int) bool {
	has := make(map[int]bool, len(a))
	for _, line := range a {
		has[line] = true
	}
	for _, line := range b {
		if has[line] {
			return true
		}
	}
	return false
}
