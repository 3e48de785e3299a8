package transcript

import (
	"strconv"
	"strings"
)

// Output holds the lines of a tool's result. Lines in the middle may be left out. Lines longer than
// 200 characters are cut, with " …" appended.
type Output struct {
	Head, Tail []string
	// Omitted is the number of lines left out between Head and Tail.
	Omitted int
}

const (
	// fewLines is the number of lines kept at each end of a result by default, also for results
	// that only repeat the contents of files, which are stored elsewhere.
	fewLines = 3
	// manyLines is the number of lines kept of a command's result in a Full conversation.
	manyLines = 40
	// manyOutputs is the number of bytes of results and edits that a Full conversation keeps before
	// it continues with fewLines and without edits.
	manyOutputs = 16 << 20
)

// ExitStatus returns the exit status at the beginning of a failed command's result, and the rest of
// the result. ok is false if there is none.
func ExitStatus(result string) (status int, rest string, ok bool) {
	text := strings.TrimPrefix(strings.TrimPrefix(result, "<tool_use_error>"), "Error: ")
	text, ok = strings.CutPrefix(text, "Exit code ")
	if !ok {
		return 0, result, false
	}
	digits, rest, _ := strings.Cut(text, "\n")
	status, err := strconv.Atoi(strings.TrimSpace(digits))
	if err != nil {
		return 0, result, false
	}
	return status, rest, true
}

// result sets the result of the use at an index in Items: whether it failed, and its output. said
// returns the output and is only called if it is needed.
func (c *Conversation) result(at int, b *block, said func() string) {
	item := &c.Items[at]
	item.Failed = item.Failed || b.failed
	if !c.Outputs || reply(b) != "" {
		return
	}
	output := said()
	if b.failed && effectOf(item.Tool) == effectAny {
		if status, rest, ok := ExitStatus(output); ok {
			item.ExitStatus, output = &status, rest
		}
	}
	lines := fewLines
	switch effect := effectOf(item.Tool); {
	case effect == effectNamed && !b.failed:
		return // it only confirms the input
	case effect == effectAny && c.Full && c.kept < manyOutputs:
		lines = manyLines
	}
	item.Output = outputOf(output, lines)
	for _, line := range item.Output.Head {
		c.kept += len(line)
	}
	for _, line := range item.Output.Tail {
		c.kept += len(line)
	}
}

// outputOf keeps the given number of lines at each end of a text.
func outputOf(text string, keep int) (o Output) {
	text = strings.TrimRight(text, " \t\r\n")
	for text != "" && len(o.Head) < keep {
		line, rest, _ := strings.Cut(text, "\n")
		o.Head, text = append(o.Head, cutLine(line)), rest
	}
	if text == "" {
		return o
	}
	o.Omitted = strings.Count(text, "\n") + 1
	tail := make([]string, 0, keep)
	for len(tail) < keep && o.Omitted > 0 {
		at := strings.LastIndexByte(text, '\n')
		tail = append(tail, cutLine(text[at+1:]))
		text = text[:max(at, 0)]
		o.Omitted--
	}
	for i := range tail {
		o.Tail = append(o.Tail, tail[len(tail)-1-i])
	}
	return o
}

// cutLine returns a line cut to 200 characters. It is a copy, so that the text can be garbage
// collected.
func cutLine(line string) string {
	line = strings.TrimRight(line, "\r")
	n := 0
	for i := range line {
		if n == longestDetail {
			return line[:i] + " …"
		}
		n++
	}
	return strings.Clone(line)
}
