package shellcmd

import (
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/recall"
)

// Judge is how the success of a command whose result is no error is determined.
type Judge uint8

// The ways to determine it.
const (
	ByStatus     Judge = iota // by its exit status, which is success
	byOutput                  // by the end of its output
	byFewOutput               // by its output, of which parts are left out
	Never                     // not at all
	byPartOutput              // by its output, which may be that of one of several checks
)

// Judge returns how the success of the line is judged.
func (l Line) Judge() Judge {
	switch {
	case l.masked && l.checkCommands() > 1:
		return byPartOutput
	case l.masked && l.cuts:
		return byFewOutput
	case l.masked:
		return byOutput
	}
	return ByStatus
}

// checkCommands returns the number of commands that check something.
func (l Line) checkCommands() int {
	n := 0
	for _, c := range l.commands {
		if c.checks() != 0 {
			n++
		}
	}
	return n
}

// Outcome returns how a command ended that gave no error, by the end of what it
// printed where its status does not decide.
func (by Judge) Outcome(output string) recall.Outcome {
	switch by {
	case ByStatus:
		return recall.Passed
	case Never:
		return recall.Unknown
	case byOutput, byFewOutput, byPartOutput:
	}
	const most = 64 << 10
	if len(output) > most {
		output = output[len(output)-most:]
	}
	outcome := judged(output, by == byFewOutput)
	if by == byPartOutput && outcome == recall.Passed {
		return recall.Unknown // another check of the line may have failed
	}
	return outcome
}

// PrintsFailure reports whether an output has a line that only failures print.
func PrintsFailure(output string) bool {
	for text := range strings.SplitSeq(output, "\n") {
		if IsFailure(strings.TrimSpace(text)) {
			return true
		}
	}
	return false
}

// judged returns how a command ended by what it printed; strictly: success of everything
// that ran. The last count of failures decides, before lines that only failures print.
func judged(output string, strictly bool) recall.Outcome {
	seen := recall.Unknown
	for text := range strings.SplitSeq(output, "\n") {
		text = strings.TrimSpace(text)
		failures, counts := countOf(text)
		switch {
		case counts && failures == 0:
			seen = recall.Passed
		case counts, IsFailure(text):
			seen = recall.Failed
		case seen != recall.Failed && isSuccess(text, strictly):
			seen = recall.Passed
		}
	}
	return seen
}

// CountedSuccess reports whether the last count of failures in an output is 0.
func CountedSuccess(output string) bool {
	counted := false
	for text := range strings.SplitSeq(output, "\n") {
		if failures, ok := countOf(strings.TrimSpace(text)); ok {
			counted = failures == 0
		}
	}
	return counted
}

// NothingToDo reports whether an output is that of a commit or push without changes.
func NothingToDo(output string) bool {
	return contains(output, "nothing to commit", "no changes added to commit", "nothing added to commit", "Everything up-to-date", "no staged changes")
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
	failures, counts := countOf(text)
	return counts && failures > 0
}

// isSuccess reports whether only success prints a line of output; strictly: success of
// everything that ran.
func isSuccess(text string, strictly bool) bool {
	if contains(text, "found no issues", "no issues found", "All checks passed") {
		return true
	}
	return !strictly && (strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "ok \t") || text == "PASS" ||
		strings.HasPrefix(text, "test result: ok") || strings.Contains(text, "BUILD SUCCESS") || strings.Contains(text, " passed"))
}

// countOf returns the largest number of failures that a line counts, as "3 failed" or
// "Failed: 3"; false if it counts none.
func countOf(text string) (failures int, ok bool) {
	const longest = 200
	if len(text) > longest {
		return 0, false
	}
	separator := func(c rune) bool { return strings.ContainsRune(" ,.;()[]|\t", c) }
	words := strings.FieldsFunc(strings.ReplaceAll(text, ":", ": "), separator)
	number := func(i int) (int, bool) {
		if i < 0 || i >= len(words) {
			return 0, false
		}
		return smallNumber(words[i])
	}
	for i := range words {
		word, label := strings.CutSuffix(strings.ToLower(words[i]), ":")
		n, counted := number(i + 1)
		if !label || !counted {
			if n, counted = number(i - 1); !counted || i > 1 && !beforeCount(strings.TrimSuffix(words[i-2], ":")) {
				continue
			}
			label = false
		}
		switch word {
		case "failed", "failures", "failing", "errors", "problems", "issues":
			failures, ok = max(failures, n), true
		case "fail", "failure", "error":
			if !label { // "error: 2 arguments are missing" counts nothing
				failures, ok = max(failures, n), true
			}
		}
	}
	return failures, ok
}

// beforeCount reports whether a count may follow a word: in "Tests: 3 failed", but not in
// "task 3 failed".
func beforeCount(word string) bool {
	switch word = strings.ToLower(word); word {
	case "found", "tests", "test", "suites", "files", "total", "with", "result", "passed", "pass", "ok", "failed", "fail", "skipped", "has", "had", "and", "errors", "warnings", "problems":
		return true
	}
	return !strings.ContainsFunc(word, unicode.IsLetter) && !strings.Contains(word, ":")
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
