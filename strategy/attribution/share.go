package attribution

import (
	"bytes"
	"maps"
	"strings"
	"unicode"
)

// Share measures how much of a commit's additions to a file an author wrote. Lines that many files
// have, such as brackets and imports, are not counted, unless the commit adds no other lines.
type Share struct {
	// Added is the number of lines that the commit adds to the file.
	Added int
	// Wrote is the number of the author's lines in the last state that the author made. Kept is the
	// number of those that the commit adds.
	Wrote, Kept int
	// Removed is the number of lines that the author removed, without a replacement, and the commit
	// removes.
	Removed int
}

// Counts reports whether the file is the author's share of the commit: at least
// a quarter of the added lines are the author's, or at least half of the
// author's lines are added.
func (s Share) Counts() bool {
	const quarter, half = 4, 2
	return s.Kept > 0 && (quarter*s.Kept >= s.Added || half*s.Kept >= s.Wrote)
}

// IsCopy reports whether the author wrote at least half of the added lines. It is used for files
// with another name than the author gave them.
func (s Share) IsCopy() bool {
	const half = 2
	return s.Kept > 0 && half*s.Kept >= s.Added
}

// Shares returns the shares of all authors but Person. It follows the lines as
// Attribute does. Without Hunks it compares Base and Final itself.
func (f File) Shares() map[Author]Share {
	h := newHistory(f)
	added, removed := make([]bool, len(h.final)), make([]bool, len(h.base))
	if f.Hunks == nil {
		for _, g := range align(h.base, h.final) {
			mark(added, span{g.b, g.bEnd})
			mark(removed, span{g.a, g.aEnd})
		}
	} else {
		added = addedBy(f.Hunks, len(h.final))
		for _, k := range f.Hunks {
			mark(removed, oldSpan(k))
		}
	}
	h.continueFrom(added)
	common := h.texts.common(h.final)
	total, all := 0, 0 // among the lines that the commit adds
	for i := range h.final {
		if added[i] {
			all++
			if !common[i] {
				total++
			}
		}
	}
	countsAll := total == 0
	if countsAll {
		total = all
	}
	wrote := map[Author]int{}
	h.run(func(s State) {
		common := h.texts.common(h.at)
		now := h.written(func(i int) bool { return countsAll || !common[i] })
		if s.Known != nil {
			maps.Copy(wrote, now)
		}
		wrote[s.By] = now[s.By]
	})
	kept := h.written(func(i int) bool { return added[i] && (countsAll || !common[i]) })
	gone := map[Author]int{}
	for i, fate := range h.fates {
		if removed[i] && fate.gone && !fate.replaced && h.texts.isSignificant(h.base[i]) {
			gone[fate.by]++
		}
	}
	shares := map[Author]Share{}
	for by, n := range wrote {
		if by != Person {
			shares[by] = Share{Added: total, Wrote: n, Kept: kept[by], Removed: gone[by]}
		}
	}
	return shares
}

// written counts the lines of the current state by author.
func (h *history) written(counts func(i int) bool) map[Author]int {
	n := map[Author]int{}
	for i, o := range h.now {
		if o.base == none && counts(i) {
			n[o.by]++
		}
	}
	return n
}

// Significant reports whether a line has more than white space, brackets and
// the punctuation that follows them.
func Significant(line []byte) bool {
	return bytes.ContainsFunc(line, func(c rune) bool {
		return !unicode.IsSpace(c) && !bytes.ContainsRune([]byte("()[]{},;"), c)
	})
}

// common marks the lines of a content that many files of its kind have, so that two authors may
// have written them independently: blank lines, brackets, single keywords, the clause of a package,
// imports of other packages, guards, document types, entry points, and the license at the beginning.
func (t *texts) common(content []int) []bool {
	marks := make([]bool, len(content))
	for i, line := range content {
		marks[i] = !t.isSignificant(line) || isCommon(strings.TrimSpace(t.lines[line].text))
	}
	for _, i := range t.imports(content, 0, len(content)) {
		text := t.lines[content[i]].text
		marks[i] = marks[i] || !containsAny(text, `"./`, `'./`, `"../`, `'../`, `include "`, " .", "crate::", "self::", "super::")
	}
	isLicense, end := false, 0
	for ; end < len(content); end++ {
		text := strings.TrimSpace(t.lines[content[end]].text)
		t.words(content[end])
		if text != "" && t.lines[content[end]].marker == none && !strings.HasPrefix(text, "*/") && !strings.HasPrefix(text, "<!--") {
			break
		}
		isLicense = isLicense || containsAny(strings.ToLower(text), "license", "licence", "copyright")
	}
	for i := range end {
		marks[i] = marks[i] || isLicense
	}
	return marks
}

// commonLines are lines that many files have, without brackets, quotes and spaces at their ends.
var commonLines = map[string]bool{ //nolint:gochecknoglobals // a read-only table
	"else": true, "else:": true, "try": true, "try:": true, "finally": true, "finally:": true, "do": true,
	"then": true, "end": true, "fi": true, "done": true, "esac": true, "begin": true, "return": true,
	"return 0": true, "return nil": true, "return null": true, "return true": true, "return false": true,
	"break": true, "continue": true, "pass": true, "default:": true, "use strict": true, "use client": true,
	"public:": true, "private:": true, "protected:": true, "exit 0": true, "---": true, "...": true,
	"func main": true, "int main": true, "int main(void": true, "fn main": true, "main": true, "def main():": true,
	"declare(strict_types=1": true, "?>": true, "/**": true, "/*": true, "*/": true, "#endif": true,
}

// commonStarts begin lines that many files have.
var commonStarts = []string{ //nolint:gochecknoglobals // a read-only table
	"package ", "namespace ", "#!", "#pragma once", "<?php", "<?xml", "<!doctype", "<html", "</html", "<head", "</head",
	"<body", "</body", "<meta charset", "# -*-", "# frozen_string_literal", "set -e", "set -u", "set -o",
	"if __name__ ==", "public static void main", "int main(int", "syntax = ", "@charset", "//go:build", "extern crate ",
}

// isCommon reports whether many files have a line.
func isCommon(line string) bool {
	if commonLines[strings.Trim(line, "(){};'\" ")] || commonLines[line] {
		return true
	}
	lower := strings.ToLower(line)
	for _, start := range commonStarts {
		if strings.HasPrefix(lower, start) {
			return true
		}
	}
	// The guard of a header: one name in upper case.
	directive, name, _ := strings.Cut(line, " ")
	isGuard := directive == "#ifndef" || directive == "#define" || directive == "#endif"
	return isGuard && strings.ToUpper(name) == name && len(strings.Fields(strings.Trim(name, "/* "))) == 1
}

func containsAny(text string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
