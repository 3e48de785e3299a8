package tracking

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// Explained returns a content of a file without the lines that commands can't have written, which
// changed it from an earlier content: the lines with words that neither the commands nor that content
// have. It is false if a command is among them that can write other text: its words say nothing. The
// file has the last of its names; the others are those from which commands renamed it.
func (w *Work) Explained(commands, names []string, before, now string) (string, bool) {
	if slices.ContainsFunc(w.turn.Calls, func(c transcript.Call) bool { return transcript.IsTask(c.Tool) && !w.hasTask(c.ID) }) {
		return "", false
	}
	own, parts := map[string]bool{}, map[string]bool{}
	for _, command := range commands {
		able := unreached
		for _, name := range names {
			able = max(able, w.reach([]string{command}, name))
		}
		if able == unreached {
			continue
		}
		if able == reachable || !w.isLiteral(command, names) {
			return "", false
		}
		// printf and echo replace escapes.
		unescaped := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(command)
		edits := slices.ContainsFunc(w.parsed[command].simple, func(words []string) bool { return len(words) > 0 && words[0] == "sed" })
		for word := range textWords(command + "\n" + unescaped) {
			own[word] = true
			const least = 4 // shorter parts occur by chance
			if edits && len(word) >= least {
				parts[word] = true
			}
		}
	}
	if len(own) == 0 {
		return "", false
	}
	kept := map[string]bool{}
	for word := range textWords(before) {
		kept[word] = true
	}
	was, is := lineSet(before), lineSet(now)
	var text strings.Builder
	for line := range strings.Lines(now) {
		if was[strings.TrimSpace(line)] || isExplained(line, own, kept, parts) || isEdited(line, was, is) {
			text.WriteString(line)
		}
	}
	return text.String(), true
}

// isLiteral reports whether a command whose reach is known writes no text to the file but its own and
// that of the file.
func (w *Work) isLiteral(command string, names []string) bool {
	parsed := w.parsed[command]
	if parsed.least != unreached {
		return false
	}
	for _, words := range parsed.simple {
		if len(words) == 0 {
			continue
		}
		if from, to := w.renames(words); slices.Contains(names, from) && slices.Contains(names, to) {
			continue
		}
		args := words[1:]
		switch words[0] {
		case "echo", "printf", "tee", "true", "false", "mkdir", "cd", "ls", "touch", "chmod", "test", "[", "pwd":
			continue
		case "git":
			if len(args) > 0 && slices.Contains([]string{"add", "commit", "status", "diff", "log"}, args[0]) {
				continue
			}
			return false
		case "sed":
			if slices.ContainsFunc(args, func(arg string) bool { return w.isOther(arg, names) }) {
				return false
			}
			continue
		case "cat", "head", "tail":
			isFile := func(arg string) bool { return !strings.HasPrefix(arg, "-") && strings.Trim(arg, "+0123456789") != "" }
			if slices.ContainsFunc(args, func(arg string) bool { return isFile(arg) && !w.isNamed(arg, names) }) {
				return false
			}
			continue
		case "mv", "cp": // of a file that the command makes
			if len(args) != 2 || !makes(command, args[0]) {
				return false
			}
			continue
		}
		return false
	}
	return true
}

// makes reports whether a command writes its output to a file.
func makes(command, name string) bool {
	return strings.Contains(command, ">"+name) || strings.Contains(command, "> "+name)
}

// isNamed reports whether an argument names a file that has one of the names.
func (w *Work) isNamed(arg string, names []string) bool {
	word := cleanWord(w.repo, arg)
	return slices.ContainsFunc(names, func(name string) bool { return wordNames(word, name) })
}

// renames returns the paths that a command renames from and to, empty if it doesn't. A copy counts, too.
func (w *Work) renames(words []string) (from, to string) {
	if words[0] == "git" {
		words = words[1:]
	}
	if len(words) == 0 || words[0] != "mv" && words[0] != "cp" {
		return "", ""
	}
	args := slices.DeleteFunc(slices.Clone(words[1:]), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if len(args) != 2 { //nolint:mnd // a source and a target
		return "", ""
	}
	return cleanWord(w.repo, args[0]), cleanWord(w.repo, args[1])
}

// names returns the names that commands of the turn gave a file, the last one, which is path, at the
// end.
func (w *Work) names(path string) []string {
	return w.namesIn(w.read().Commands(nil, nil, w.has), path)
}

func (w *Work) namesIn(commands []string, path string) []string {
	names := []string{path}
	for _, command := range slices.Backward(commands) {
		for _, words := range slices.Backward(w.parse(command).simple) {
			if len(words) == 0 {
				continue
			}
			if from, to := w.renames(words); to != "" && to == names[0] && !slices.Contains(names, from) && !makes(command, from) {
				names = slices.Insert(names, 0, from)
			}
		}
	}
	return names
}

// isOther reports whether an argument names an existing file that doesn't have one of the names.
func (w *Work) isOther(arg string, names []string) bool {
	full := filepath.FromSlash(arg)
	if !filepath.IsAbs(full) {
		full = filepath.Join(w.repo.Root, full)
	}
	_, err := os.Lstat(full)
	return err == nil && !w.isNamed(arg, names)
}

// isExplained reports whether each word of a line is one of the file or of the commands, or has one of
// the parts.
func isExplained(line string, own, kept, parts map[string]bool) bool {
	for word := range textWords(line) {
		found := own[word] || kept[word]
		for part := range parts {
			if found = found || strings.Contains(word, part); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// isEdited reports whether a line has most words of a line that was replaced: a command may have
// edited it.
func isEdited(line string, was, is map[string]bool) bool {
	has, n := map[string]bool{}, 0
	for word := range textWords(line) {
		has[word] = true
		n++
	}
	for former := range was {
		if is[former] {
			continue
		}
		same := 0
		for word := range textWords(former) {
			if has[word] {
				same++
			}
		}
		if 2*same > n { //nolint:mnd // more than half
			return true
		}
	}
	return false
}

// lineSet returns the lines of a text without white space around them.
func lineSet(text string) map[string]bool {
	lines := map[string]bool{}
	for line := range strings.Lines(text) {
		lines[strings.TrimSpace(line)] = true
	}
	return lines
}

// textWords returns the words of a text: letters, digits and underscores.
func textWords(text string) func(yield func(string) bool) {
	return strings.FieldsFuncSeq(text, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}
