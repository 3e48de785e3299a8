package importing

import (
	"regexp"
	"slices"
	"strings"
)

// shellWrite is a text that a shell command writes to a file.
type shellWrite struct {
	path, text string
	// isWhole reports that the text replaces the file.
	isWhole bool
}

const (
	quotedWord = `"(?:[^"\\\n]|\\.)*"|'[^'\n]*'`
	fileWord   = `("[^"\n$` + "`" + `]+"|'[^'\n]+'|[^\s;|&<>$"'` + "`" + `()]+)`
)

var (
	heredocStart = regexp.MustCompile(`<<-?\s*(?:"([^"\n]+)"|'([^'\n]+)'|\\?([A-Za-z_][A-Za-z0-9_]*))`)
	redirect     = regexp.MustCompile(`(?:^|[^0-9&>])(>>?)\s*` + fileWord)
	teeFile      = regexp.MustCompile(`\btee\s+(-a\s+)?` + fileWord)
	pathWord     = regexp.MustCompile(`[A-Za-z0-9_.@+-]*[./][A-Za-z0-9_./@+-]*[A-Za-z0-9_]`)
	printed      = regexp.MustCompile(`\b(?:echo|printf)\s+(?:-[a-zA-Z]+\s+)*(` + quotedWord + `)\s*(>>?)\s*` + fileWord)
	replaced     = regexp.MustCompile(`\bsed\s+(?:-[a-zA-Z]*\s+)*-[a-zA-Z]*i[^\s]*\s+(?:-[a-zA-Z]+\s+)*(` + quotedWord + `)\s+` + fileWord)
	moved        = regexp.MustCompile(`(?m)(?:^|[;&|]|\bgit\s)\s*mv\s+(?:-[a-z]+\s+)*` + fileWord + `\s+` + fileWord)
)

// shellWrites returns the texts that a shell command writes to files, as far as the command has them: documents
// in the command, what echo and printf write, and the new text of sed -i. A document in a command that names
// no file for it may be for each of the files that the command names.
func shellWrites(command string) (list []shellWrite) {
	if !strings.ContainsAny(command, "<>") && !strings.Contains(command, "sed") {
		return nil
	}
	rest := command
	for {
		at := heredocStart.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		word := ""
		for group := 2; group < len(at); group += 2 {
			if at[group] >= 0 {
				word = rest[at[group]:at[group+1]]
			}
		}
		begin := strings.LastIndexByte(rest[:at[0]], '\n') + 1
		line, body, found := strings.Cut(rest[begin:], "\n")
		if !found {
			break
		}
		text, after := body, ""
		for offset := 0; offset < len(body); {
			one, _, _ := strings.Cut(body[offset:], "\n")
			if strings.TrimLeft(one, "\t") == word {
				text, after = body[:offset], body[offset+len(one):]
				break
			}
			offset += len(one) + 1
		}
		list = append(list, documents(line, text, command)...)
		rest = after
	}
	for _, m := range printed.FindAllStringSubmatch(command, -1) {
		text := unquote(m[1])
		list = append(list, shellWrite{path: unquote(m[3]), text: strings.ReplaceAll(text, `\n`, "\n"), isWhole: m[2] == ">"})
	}
	for _, m := range replaced.FindAllStringSubmatch(command, -1) {
		script := unquote(m[1])
		if len(script) < 4 || script[0] != 's' { //nolint:mnd // s/a/b/
			continue
		}
		if parts := strings.Split(script[2:], script[1:2]); len(parts) > 1 {
			list = append(list, shellWrite{path: unquote(m[2]), text: parts[1]})
		}
	}
	return list
}

// documents returns the writes of a document whose command begins on a line.
func documents(line, text, command string) []shellWrite {
	if m := redirect.FindStringSubmatch(line); m != nil {
		return []shellWrite{{path: unquote(m[2]), text: text, isWhole: m[1] == ">"}}
	}
	if m := teeFile.FindStringSubmatch(line); m != nil {
		return []shellWrite{{path: unquote(m[2]), text: text, isWhole: m[1] == ""}}
	}
	const most = 8
	var list []shellWrite
	for _, name := range pathWord.FindAllString(strings.Replace(command, text, "", 1), -1) {
		isKnown := slices.ContainsFunc(list, func(w shellWrite) bool { return w.path == name })
		if !isKnown && len(list) < most && !strings.HasPrefix(name, "-") {
			list = append(list, shellWrite{path: name, text: text})
		}
	}
	return list
}

// shellMoves returns the files that a command renames, with their new names.
func shellMoves(command string) (list [][2]string) {
	if !strings.Contains(command, "mv ") {
		return nil
	}
	for _, m := range moved.FindAllStringSubmatch(command, -1) {
		list = append(list, [2]string{unquote(m[1]), unquote(m[2])})
	}
	return list
}

// unquote returns a word of a shell command without its quotes.
func unquote(word string) string {
	if len(word) > 1 && word[0] == '\'' {
		return word[1 : len(word)-1]
	}
	if len(word) > 1 && word[0] == '"' {
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`").Replace(word[1 : len(word)-1])
	}
	return word
}
