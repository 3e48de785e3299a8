package checkpoint

import (
	"regexp"
	"slices"
	"strings"
)

// keyTrailers returns the places of the lines that are trailers with TrailerKey, in order: those of
// the message's own trailers, and those of messages that were joined to this one.
//
// The message's own trailers end its last paragraph: there git and the existing tool write them.
// Messages that git, GitHub and GitLab have joined are recognized by their form.
func keyTrailers(lines []string) []int {
	if i := slices.IndexFunc(lines, isScissors); i >= 0 {
		lines = lines[:i]
	}
	isOurs := func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), TrailerKey+":") }
	if !slices.ContainsFunc(lines, isOurs) {
		return nil
	}
	text := slices.Clone(lines)
	found := listedTrailers(text)
	blankCode(text)
	var paragraphs []paragraph
	for i := 0; i < len(text); i++ {
		if !isParted(text[i]) {
			p := paragraph{from: i}
			for i < len(text) && !isParted(text[i]) {
				i++
			}
			p.lines = text[p.from:i]
			paragraphs = append(paragraphs, p)
		}
	}
	// Where messages are joined as a list, a paragraph of each begins with a mark.
	listed := false
	var alone []int // in paragraphs that consist of trailers
	for n, p := range paragraphs {
		if listed = listed || strings.HasPrefix(p.lines[0], "* "); listed {
			p = p.unindented()
		}
		first := p.firstTrailer(n == len(paragraphs)-1)
		var ours []int
		for i := first; i < len(p.lines); i++ {
			if strings.HasPrefix(p.lines[i], TrailerKey+":") {
				ours = append(ours, p.from+i)
			}
		}
		switch {
		case listed, n == len(paragraphs)-1:
			found = append(found, ours...)
			if len(ours) > 0 && n == len(paragraphs)-1 {
				found = append(found, alone...)
			}
		case first == 0:
			alone = append(alone, ours...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// isParted reports whether a line is between paragraphs.
func isParted(line string) bool { return isBlank(line) || strings.HasPrefix(line, "#") }

// paragraph is a paragraph of a message.
type paragraph struct {
	from  int // place of its first line
	lines []string
}

// unindented returns the paragraph of an item of a list without its indentation.
func (p paragraph) unindented() paragraph {
	const indent = "  "
	if slices.ContainsFunc(p.lines, func(line string) bool { return !strings.HasPrefix(line, indent) }) {
		return p
	}
	q := paragraph{from: p.from}
	for _, line := range p.lines {
		q.lines = append(q.lines, line[len(indent):])
	}
	return q
}

// firstTrailer returns the place of the first of the trailers that end the paragraph. In the last
// paragraph of a message git also takes trailers with other lines between them if git wrote one of
// them and at least a quarter of the lines are trailers.
func (p paragraph) firstTrailer(isLast bool) int {
	trailers, written, others, isTrailer := 0, false, 0, false
	first := len(p.lines)
	for i, line := range p.lines {
		byGit := strings.HasPrefix(line, "(cherry picked from commit ") || strings.HasPrefix(line, "Signed-off-by: ")
		switch {
		case byGit || hasTrailerToken(line):
			trailers, written = trailers+1, written || byGit
			if !isTrailer {
				first, isTrailer = i, true
			}
		case isTrailer && (line[0] == ' ' || line[0] == '\t'): // the trailer goes on
		default:
			others++
			first, isTrailer = len(p.lines), false
		}
	}
	const most = 3 // other lines for each trailer
	if isLast && p.from > 0 && written && others <= most*trailers {
		return 0
	}
	return first
}

// hasTrailerToken reports whether a line begins with letters, digits and hyphens, then a colon.
func hasTrailerToken(line string) bool {
	token, _, found := strings.Cut(line, ":")
	token = strings.TrimRight(token, " \t")
	return found && token != "" && strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// listedTrailers returns the places of trailers in the commits that git merge --squash lists in a
// message, and removes the list from the text.
func listedTrailers(text []string) []int {
	if !slices.ContainsFunc(text, func(line string) bool { return strings.HasPrefix(line, "commit ") }) {
		return nil
	}
	isHeader := regexp.MustCompile(`^(commit [0-9a-f]{40,64}|(Merge|Author|AuthorDate|Commit|CommitDate|Date): )`)
	const indent = "    "
	var found []int
	for i := 0; i < len(text); i++ {
		if !isHeader.MatchString(text[i]) || !strings.HasPrefix(text[i], "commit ") {
			continue
		}
		from := i
		for i < len(text) && (isBlank(text[i]) || isHeader.MatchString(text[i]) && (i == from || !strings.HasPrefix(text[i], "commit ")) || strings.HasPrefix(text[i], indent)) {
			i++
		}
		message := make([]string, i-from)
		for n := range message {
			message[n] = "\n"
			if line, ok := strings.CutPrefix(text[from+n], indent); ok {
				message[n] = line
			}
			text[from+n] = "\n"
		}
		for _, at := range keyTrailers(message) {
			found = append(found, from+at)
		}
		i--
	}
	return found
}

// blankCode removes fenced blocks of code from the text.
func blankCode(text []string) {
	if !slices.ContainsFunc(text, func(line string) bool { return strings.Contains(line, "```") || strings.Contains(line, "~~~") }) {
		return
	}
	fence := regexp.MustCompile("^ {0,3}(```|~~~)")
	open := -1
	for i, line := range text {
		mark := fence.FindStringSubmatch(line)
		switch {
		case mark == nil:
		case open < 0:
			open = i
		case strings.TrimSpace(line) == strings.Repeat(mark[1][:1], len(strings.TrimSpace(line))) && strings.Contains(text[open], mark[1]):
			for n := open; n <= i; n++ {
				text[n] = ">\n" // it remains a part of its paragraph
			}
			open = -1
		}
	}
}
