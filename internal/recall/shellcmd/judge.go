package shellcmd

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall"
)

// Judge is how the success of a command is told from a result without an error.
type Judge uint8

const (
	ByStatus    Judge = iota // it is one
	byOutput                 // the end of the output tells
	byFewOutput              // the output tells, but parts are left out
	Never                    // nothing tells
)

// Judge returns how the success of the line is judged.
func (line Line) Judge() Judge {
	switch {
	case line.masked && line.cuts:
		return byFewOutput
	case line.masked:
		return byOutput
	}
	return ByStatus
}

// Outcome returns how a command ended that gave no error, by the end of what it
// printed where its status does not decide.
func (by Judge) Outcome(output string) recall.Outcome {
	switch by {
	case ByStatus:
		return recall.Passed
	case Never:
		return recall.Unknown
	}
	const most = 64 << 10
	if len(output) > most {
		output = output[len(output)-most:]
	}
	seen := recall.Unknown
	for text := range strings.SplitSeq(output, "\n") {
		text = strings.TrimSpace(text)
		switch {
		case IsFailure(text):
			return recall.Failed
		case tellsSuccess(text, by == byFewOutput):
			seen = recall.Passed
		}
	}
	return seen
}

// IsFailure says whether a line of output is one that only failures print.
func IsFailure(text string) bool {
	for _, begin := range []string{
		"FAIL", "--- FAIL", "not ok ", "panic: ", "fatal: ", "make: ***", "error: ", "error[", "BUILD FAILED", "npm ERR!", "npm error",
		"** (", "== Compilation error", "Traceback (most recent call last)", "Segmentation fault",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return counted(text, func(n int) bool { return n > 0 })
}

// tellsSuccess says whether a line of output is one that only success prints;
// strictly: that it speaks for all that ran.
func tellsSuccess(text string, strictly bool) bool {
	if counted(text, func(n int) bool { return n == 0 }) || contains(text, "found no issues", "no issues found", "All checks passed") {
		return true
	}
	return !strictly && (strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "ok \t") || text == "PASS" ||
		strings.HasPrefix(text, "test result: ok") || strings.Contains(text, "BUILD SUCCESS") || strings.Contains(text, " passed"))
}

// counted says whether a line counts failures, and good of one of its numbers.
func counted(text string, good func(n int) bool) bool {
	const longest = 200
	if len(text) > longest {
		return false
	}
	words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,.;:()[]|\t", c) })
	for i := 1; i < len(words); i++ {
		n, ok := smallNumber(words[i-1])
		if !ok {
			continue
		}
		switch strings.ToLower(words[i]) {
		case "failed", "failure", "failures", "failing", "errors", "error", "problems", "issues":
			if good(n) {
				return true
			}
		}
	}
	return false
}

func smallNumber(s string) (n int, ok bool) {
	const digits = 6
	if !isNumber(s) || len(s) > digits {
		return 0, false
	}
	for _, c := range s {
		n = n*10 + int(c-'0') //nolint:mnd // decimal
	}
	return n, true
}
