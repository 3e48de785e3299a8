package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/recall/brief"
)

// verify checks each statement of a brief against the transcript, which is
// parsed apart, and what is in a file against the rebuilt one and, where the
// second session looked, what it saw.
func (r *result) verify(a *session, m brief.Material) {
	said := letters(texts(a.raw))
	part, section := "", ""
	body := make([]string, 0, 64)
	heading, fence := "", ""
	for line := range strings.Lines(strings.Join(r.brief.Parts, "\n") + "\n") {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case fence != "" && line == fence:
			r.block(heading, body, m)
			fence, body = "", body[:0]
		case fence != "":
			body = append(body, line)
		case strings.HasPrefix(line, "```"):
			fence = line[:len(line)-len(strings.TrimLeft(line, "`"))]
		case strings.HasPrefix(line, "### "):
			heading = line[len("### "):]
			r.file(heading, a)
		case strings.HasPrefix(line, "**"):
			section, part, _ = strings.Cut(strings.TrimPrefix(line, "**"), "**")
			if part = strings.TrimPrefix(part, ": "); !strings.HasSuffix(part, ":") {
				r.item(section, part, a, said)
			}
		case strings.HasPrefix(line, "Files of checkpoint"):
		case section != "":
			_, item, ok := strings.Cut(line, " ")
			if ok && !strings.HasPrefix(item, "…") {
				r.item(section, item, a, said)
			}
		}
	}
}

func (r *result) claim(what string, ok bool) {
	r.claims++
	if !ok {
		r.false = append(r.false, what)
	}
}

// item checks a line of the digest.
func (r *result) item(section, item string, a *session, said string) {
	switch {
	case item == "" || strings.HasPrefix(item, "("):
	case strings.HasPrefix(section, "Recent Commands"):
		r.claim("command: "+item, a.ranSo(item))
	case strings.HasPrefix(section, "Files Read"), strings.HasPrefix(section, "Docs"):
		for name := range strings.SplitSeq(item, ", ") {
			r.claim("read: "+name, strings.Contains(said, letters(name)))
		}
	case strings.HasPrefix(section, "Working Files"):
		r.file(item, a)
	case strings.HasPrefix(section, "Git Branch"):
		branch, _, _ := strings.Cut(item, ", ")
		r.claim("branch: "+item, branch == a.branch || a.branch == "")
	default:
		for _, quote := range quotes(item) {
			r.claim(section+": "+quote, isSaid(quote, said))
		}
	}
}

// isSaid looks for a quote: whole, or its pieces where a label stands before
// one.
func isSaid(quote, said string) bool {
	if strings.Contains(said, letters(quote)) {
		return true
	}
	if name, args, ok := strings.Cut(quote, " "); ok && strings.HasPrefix(name, "/") { // in a transcript each has a tag of its own
		return strings.Contains(said, letters(name)) && isSaid(args, said)
	}
	for _, mark := range []string{"; last asked: ", "failed and did not pass since: ", "plan offered: ", ": "} {
		if before, after, ok := strings.Cut(quote, mark); ok {
			return strings.Contains(said, letters(before)) && isSaid(after, said)
		}
	}
	return false
}

// quotes are what a line quotes, without the words that say what it is.
func quotes(item string) []string {
	for _, before := range []string{"Asked: ", "Then: ", "The agent said last: ", "user: ", "agent: ", "plan accepted: ", "open question: ", "last asked: ", "plan: ", "failed: ", "denied: ", "interrupted: "} {
		item = strings.TrimPrefix(item, before)
	}
	var list []string
	for piece := range strings.SplitSeq(item, " -> ") {
		for quote := range strings.SplitSeq(piece, "...") {
			if quote = strings.TrimRight(strings.TrimSpace(quote), "…"); len(letters(quote)) > 2 {
				list = append(list, quote)
			}
		}
	}
	return list
}

// file checks that a file that is named is one that the session edited.
func (r *result) file(title string, a *session) {
	name, _, _ := strings.Cut(title, " (")
	ok := slices.ContainsFunc(a.edited, func(path string) bool { return a.inside(path) == name })
	r.claim("file: "+title, ok)
}

// block checks the lines of a file that the brief holds.
func (r *result) block(heading string, body []string, m brief.Material) {
	name, about, _ := strings.Cut(heading, " (")
	f := m.Checkpoint.State.Files[name]
	content := f.Content
	moved := strings.Contains(about, "changed since")
	if moved {
		content = m.Present[name].Content
	}
	lines := strings.Split(content, "\n")
	text := strings.Join(body, "\n")
	switch {
	case slices.Contains(r.brief.Whole, name):
		r.claim("content: "+heading, strings.TrimSuffix(strings.ReplaceAll(content, "\r\n", "\n"), "\n") == text)
	case slices.Contains(r.brief.Outlined, name):
		for _, line := range body {
			number, text, _ := strings.Cut(line, ": ")
			n, err := strconv.Atoi(number)
			r.claim("outline: "+line, err == nil && n <= len(lines) && strings.Contains(lines[n-1], strings.TrimSuffix(text, "…")))
		}
	default:
		before := m.Base[name]
		if moved {
			before = f.Content
		}
		for _, line := range body {
			r.claim("change: "+line, changed(line, before, lines))
		}
	}
}

// changed reports that a line of a diff is true.
func changed(line, before string, now []string) bool {
	if line == "" {
		return false
	}
	switch line[0] {
	case '@', '\\':
		return true
	case '-':
		return slices.Contains(strings.Split(before, "\n"), line[1:])
	}
	return slices.Contains(now, line[1:])
}

// ranSo reports that a command was run, and ended so when it was run last.
func (a *session) ranSo(item string) bool {
	at := strings.LastIndex(item, ": ")
	text, result := item[:max(at, 0)], item[at+2:]
	want := letters(strings.TrimSuffix(strings.TrimSuffix(text, "…"), "..."))
	for _, c := range slices.Backward(a.commands) {
		if !strings.Contains(letters(c.text), want) {
			continue
		}
		switch result {
		case "passed":
			return c.known && !c.failed
		case "failed":
			return c.failed || tellsOfFailure(c.output)
		}
		return true
	}
	return false
}

func tellsOfFailure(output string) bool {
	return slices.ContainsFunc([]string{"FAIL", "fail", "rror", "exit status", "Exit code", "not found", "fatal"}, func(s string) bool { return strings.Contains(output, s) })
}

// texts are all strings of a transcript.
func texts(raw string) string {
	var b strings.Builder
	for line := range strings.Lines(raw) {
		var v any
		if json.Unmarshal([]byte(line), &v) == nil {
			collect(&b, v)
		}
	}
	return b.String()
}

func collect(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	case []any:
		for _, e := range v {
			collect(b, e)
		}
	case map[string]any:
		for _, e := range v {
			collect(b, e)
		}
	}
}

// letters are a text's letters and digits in small, which is what two writings
// of the same have in common.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
