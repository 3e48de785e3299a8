package attribution

import "strings"

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
