package shellcmd

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Judge is the way to determine the success of a command whose result is not an error.
type Judge uint8

// The ways to judge.
const (
	ByStatus     Judge = iota // by its exit status, which means success
	byOutput                  // by the end of its output
	byFewOutput               // by its output, which is incomplete
	Never                     // not at all
	byPartOutput              // by its output, which may be from one of several checks
)

// Judge returns how the success of the line is judged.
func (l Line) Judge() Judge {
	if !l.masked {
		return ByStatus
	}
	checks := 0
	for _, c := range l.commands {
		if c.checks() != 0 {
			checks++
		}
	}
	switch {
	case checks > 1:
		return byPartOutput
	case l.cuts:
		return byFewOutput
	}
	return byOutput
}

// Outcome returns the outcome of a command whose result is not an error, judged by the end
// of its output if its status does not decide.
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
	outcome := recall.Unknown
	// The last count of failures takes precedence over lines that only failures print.
	for text := range strings.SplitSeq(output, "\n") {
		text = strings.TrimSpace(text)
		failures, counts := countOf(text)
		switch {
		case counts && failures == 0:
			outcome = recall.Passed
		case counts, IsFailure(text):
			outcome = recall.Failed
		case outcome == recall.Failed:
		case contains(text, "found no issues", "no issues found", "All checks passed"):
			outcome = recall.Passed
		case by == byFewOutput: // a success may not be that of all checks that ran
		case strings.HasPrefix(text, "ok  \t"), strings.HasPrefix(text, "ok \t"), text == "PASS",
			strings.HasPrefix(text, "test result: ok"), strings.Contains(text, "BUILD SUCCESS"), strings.Contains(text, " passed"):
			outcome = recall.Passed
		}
	}
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

// countOf returns the largest count of failures in a line, such as "3 failed" or "Failed:
// 3"; ok is false if there is no count.
func countOf(text string) (failures int, ok bool) {
	const longest, digits = 200, 6
	if len(text) > longest {
		return 0, false
	}
	separator := func(c rune) bool { return strings.ContainsRune(" ,.;()[]|\t", c) }
	words := strings.FieldsFunc(strings.ReplaceAll(text, ":", ": "), separator)
	number := func(i int) (int, bool) {
		if i < 0 || i >= len(words) || !isNumber(words[i]) || len(words[i]) > digits {
			return 0, false
		}
		n, err := strconv.Atoi(words[i])
		return n, err == nil
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

// Matters reports whether a line is worth repeating: it runs tests, a build or a linter
// (checks), or another program that does more than show something, change files or run git.
// Lines with the same key run the same commands.
func (l Line) Matters() (key string, checks, ok bool) {
	keys := make([]string, 0, len(l.commands))
	// These only move, copy, remove or transfer files, or manage processes and the shell.
	moves := strings.Fields("cp mv rm rmdir ln tar unzip zip curl wget open pkill killall lsof ssh scp rsync alias ulimit time proxy")
	for _, c := range l.commands {
		of := c.checks() &^ (commits | pushes)
		switch program := c.program(); {
		case of != 0:
			checks = true
		case c.trivial(), slices.Contains(moves, program), len(c.words) > 1 && (c.words[1] == "-c" || c.words[1] == "-e"),
			program == "git", program == "gh", strings.HasPrefix(program, "-"), strings.HasPrefix(program, "$"):
			continue
		}
		keys = append(keys, strings.Join(c.words, " "))
	}
	return strings.Join(keys, " && "), checks, len(keys) > 0
}
