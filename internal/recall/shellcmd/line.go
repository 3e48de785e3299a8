// Package shellcmd parses shell command lines without running them: which checks
// (tests, builds, lints, commits) they run, which files they show, and whether their
// output is that of a failure.
package shellcmd

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall/plain"
)

// Line is what can be said of a shell command without running it.
type Line struct {
	// commands are the simple ones in it, each as words without quotes.
	commands []command
	// masked says that it may succeed though a command in it failed: a pipe,
	// a semicolon, an alternative, something in the background.
	masked bool
	// cuts says that what it prints is cut at its beginning or filtered.
	cuts bool
}

// command is one program with its arguments.
type command struct {
	words []string
	// piped says that it reads what the one before prints.
	piped bool
}

// Split takes a command line apart. It knows quotes, escapes, substitutions,
// redirections and the joints of commands; what it doesn't understand are words.
// Here-documents end it: what follows is no command.
func Split(text string) Line {
	const longest = 16 << 10
	w := shellWords{text: plain.Head(text, longest)}
	for w.at < len(w.text) && !w.done {
		w.step()
	}
	w.endCommand(false)
	last := len(w.line.commands) - 1
	for i, c := range w.line.commands {
		if c.piped && i <= last {
			w.line.cuts = w.line.cuts || c.program() != "tail" && c.program() != "tee"
		}
	}
	return w.line
}

// shellWords is the state of splitShell.
type shellWords struct {
	text string
	at   int
	line Line
	word strings.Builder
	// begun says that there is a word, be it empty; dropped that it is the
	// target of a redirection.
	begun, dropped, done bool
	words                []string
	piped                bool
}

func (w *shellWords) step() {
	c := w.text[w.at]
	switch {
	case c == '\\' && w.at+1 < len(w.text):
		if w.text[w.at+1] != '\n' {
			w.letters(w.text[w.at+1 : w.at+2])
		}
		w.at += 2
	case c == '\'', c == '"', c == '`':
		w.quoted(c)
	case c == '$' && strings.HasPrefix(w.text[w.at:], "$("):
		w.substitution()
	case c == ' ', c == '\t':
		w.endWord()
		w.at++
	case c == '<' && strings.HasPrefix(w.text[w.at:], "<<"):
		w.done = true
	case c == '<', c == '>':
		w.redirection()
	case c == '#' && !w.begun:
		w.skipTo("\n")
	case strings.IndexByte("|&;\n(){}", c) >= 0:
		w.joint(c)
	default:
		w.letters(w.text[w.at : w.at+1])
		w.at++
	}
}

func (w *shellWords) letters(s string) {
	w.begun = true
	w.word.WriteString(s)
}

// skipTo moves to the next place of a text, or to the end.
func (w *shellWords) skipTo(s string) {
	if n := strings.Index(w.text[w.at:], s); n >= 0 {
		w.at += n
	} else {
		w.at = len(w.text)
	}
}

// quoted takes in what is between quotes.
func (w *shellWords) quoted(quote byte) {
	w.at++
	begin := w.at
	for w.at < len(w.text) && w.text[w.at] != quote {
		if w.text[w.at] == '\\' && quote != '\'' {
			w.at++
		}
		w.at++
	}
	w.at = min(w.at, len(w.text))
	w.letters(w.text[begin:w.at])
	w.at = min(w.at+1, len(w.text))
}

// substitution takes in a $( ) as letters, with those in it.
func (w *shellWords) substitution() {
	begin, depth := w.at, 0
	for w.at < len(w.text) {
		switch w.text[w.at] {
		case '(':
			depth++
		case ')':
			depth--
		}
		w.at++
		if depth == 0 && w.at > begin+1 {
			break
		}
	}
	w.letters(w.text[begin:w.at])
}

// redirection leaves out where something is read from or written to.
func (w *shellWords) redirection() {
	if isNumber(w.word.String()) { // the number of the stream
		w.word.Reset()
		w.begun = false
	}
	w.endWord()
	for w.at < len(w.text) && strings.IndexByte("<>&|", w.text[w.at]) >= 0 {
		w.at++
	}
	for w.at < len(w.text) && w.text[w.at] == ' ' {
		w.at++
	}
	w.dropped = true
}

// joint ends a command.
func (w *shellWords) joint(c byte) {
	two := w.text[w.at:min(w.at+2, len(w.text))]
	switch two {
	case "&&":
		w.at += len(two)
		w.endCommand(false)
		return
	case "||", "|&":
		w.at += len(two)
		w.line.masked = true
		w.endCommand(two == "|&")
		return
	}
	w.at++
	before := len(w.words) > 0 || w.begun
	w.endCommand(c == '|')
	switch c {
	case '|', '&':
		w.line.masked = true
	case ';', '\n':
		w.line.masked = w.line.masked || before && strings.TrimLeft(w.text[w.at:], " \t\n;") != ""
	}
}

func (w *shellWords) endWord() {
	if w.begun && !w.dropped {
		w.words = append(w.words, w.word.String())
	}
	if w.begun {
		w.dropped = false
	}
	w.word.Reset()
	w.begun = false
}

// endCommand ends a command; the next one reads what it prints if piped.
func (w *shellWords) endCommand(piped bool) {
	w.endWord()
	w.dropped = false
	if len(w.words) > 0 {
		w.line.commands = append(w.line.commands, command{words: w.words, piped: w.piped}.bare())
	}
	w.words, w.piped = nil, piped
}

// bare is the command without what stands before a program: assignments, and
// programs that run another.
func (c command) bare() command {
	for len(c.words) > 0 {
		switch word := c.words[0]; {
		case isAssignment(word), isRunner(word):
			c.words = c.words[1:]
		case word == "timeout":
			c.words = c.words[1:]
			for len(c.words) > 0 && (strings.HasPrefix(c.words[0], "-") || startsWithDigit(c.words[0])) {
				c.words = c.words[1:]
			}
		default:
			return c
		}
	}
	return c
}

func isRunner(word string) bool {
	switch word {
	case "sudo", "env", "time", "nohup", "command", "exec", "npx", "bunx", "if", "then", "do", "!", "set":
		return true
	}
	return false
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" {
		return false
	}
	return strings.IndexFunc(name, func(c rune) bool {
		return c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9')
	}) < 0
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// program is the name of the program, without its directory; empty if there is
// none.
func (c command) program() string {
	if len(c.words) == 0 {
		return ""
	}
	return c.words[0][strings.LastIndexByte(c.words[0], '/')+1:]
}

// arguments are the words behind the program that are no flags.
func (c command) arguments() []string {
	var args []string
	for _, word := range c.words[min(1, len(c.words)):] {
		if !strings.HasPrefix(word, "-") {
			args = append(args, word)
		}
	}
	return args
}

// argument is the n-th of them, empty if there are fewer.
func (c command) argument(n int) string {
	if args := c.arguments(); n < len(args) {
		return args[n]
	}
	return ""
}
