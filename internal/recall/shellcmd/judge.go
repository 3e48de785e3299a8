package shellcmd

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall"
)

// Judge is how the success of a command whose result is no error is determined.
type Judge uint8

// The ways to determine it.
const (
	ByStatus    Judge = iota // by its exit status, which is success
	byOutput                 // by the end of its output
	byFewOutput              // by its output, of which parts are left out
	Never                    // not at all
)

// Judge returns how the success of the line is judged.
func (l Line) Judge() Judge {
	switch {
	case l.masked && l.cuts:
		return byFewOutput
	case l.masked:
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
	case byOutput, byFewOutput:
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
		case isSuccess(text, by == byFewOutput):
			seen = recall.Passed
		}
	}
	return seen
}

// IsFailure reports whether only failures print a line of output.
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

// isSuccess reports whether only success prints a line of output; strictly: success of
// everything that ran.
func isSuccess(text string, strictly bool) bool {
	if counted(text, func(n int) bool { return n == 0 }) || contains(text, "found no issues", "no issues found", "All checks passed") {
		return true
	}
	return !strictly && (strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "ok \t") || text == "PASS" ||
		strings.HasPrefix(text, "test result: ok") || strings.Contains(text, "BUILD SUCCESS") || strings.Contains(text, " passed"))
}

// counted reports whether a line has a number of failures for which good is true.
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
