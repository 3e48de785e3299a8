package main

import (
	"regexp"
	"strings"
	"unicode"
)

// statement is a line of a brief that can be true or false.
type statement struct {
	section string // the title, in lower case, without parentheses
	number  string // of a numbered item
	text    string
}

// verdict is a statement with the result of its check.
type verdict struct {
	statement
	class string // "next step", "blocker", "decision", "state", "request", "file", "command", …
	false string // the reason; empty if it is true
}

var (
	title   = regexp.MustCompile(`^\*\*([^*]+)\*\*(?: \(.*\))?:\s*(.*)$`)
	bullet  = regexp.MustCompile(`^(?:- |> |(\d+)\. )(.*)$`)
	leftOut = regexp.MustCompile(`^… (?:\d+ more|\d+ earlier|\d+ other ones?|and more)`)
)

// codeHead begins the heading above a file's content.
const codeHead = "### "

// statements returns the statements of a brief, and its code.
func statements(text string) (list []statement, code string) {
	section, fence := "head", ""
	var block strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(line)
		mark := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		if len(mark) >= len("```") && (fence == "" || trimmed == fence) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" {
			block.WriteString(line + "\n")
			continue
		}
		if m := title.FindStringSubmatch(line); m != nil {
			section = strings.ToLower(m[1])
			if m[2] != "" {
				list = append(list, statement{section: section, text: m[2]})
			}
			continue
		}
		if name, ok := strings.CutPrefix(line, codeHead); ok {
			list = append(list, statement{section: "content", text: name})
			continue
		}
		if strings.HasPrefix(line, "Resumed from checkpoint: ") {
			section = "head" // the second text
		}
		if trimmed == "" {
			continue
		}
		m := bullet.FindStringSubmatch(trimmed)
		if m == nil {
			list = append(list, statement{section: section, text: trimmed})
		} else if !leftOut.MatchString(m[2]) {
			list = append(list, statement{section: section, number: m[1], text: m[2]})
		}
	}
	return list, block.String()
}

// letters returns the letters and digits of a text in lower case, for comparing different forms of
// the same text.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// has reports whether a normalized text contains all pieces of another, which may be cut at "…" or
// "...".
func has(in, text string) bool {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "...", "…"), "…") {
		if !strings.Contains(in, letters(part)) {
			return false
		}
	}
	return true
}
