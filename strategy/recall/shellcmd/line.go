// Package shellcmd analyzes shell command lines without running them. It determines the
// checks (tests, builds, lints, commits) that they run, the files that they show, and
// whether their output reports a failure.
package shellcmd

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// Line is a parsed shell command line.
type Line struct {
	// commands are its simple commands, each as words without quotes.
	commands []command
	// masked is set if the line may succeed even if one of its commands fails: in a pipe,
	// before a semicolon, in an alternative or in the background.
	masked bool
	// cuts is set if the beginning of its output is cut or the output is filtered.
	cuts bool
	// isPart is set if the line was too long to be parsed whole.
	isPart bool
}

// command is one program with its arguments.
type command struct {
	words []string
	// outputs are the files to which its output is redirected.
	outputs []string
	// piped is set if it reads the output of the previous command.
	piped bool
}

// Words returns the words of each command.
func (l Line) Words() [][]string {
	all := make([][]string, 0, len(l.commands))
	for _, c := range l.commands {
		all = append(all, c.words)
	}
	return all
}

// Outputs returns the files to which the output of the i-th of the commands of Words is redirected.
func (l Line) Outputs(i int) []string { return l.commands[i].outputs }

// IsWhole reports whether Words has all commands of the line. It doesn't if the line is very long.
func (l Line) IsWhole() bool { return !l.isPart }

// Split parses a command line. It handles quotes, escapes, substitutions, redirections and
// operators between commands; everything else is a word. It skips the texts of here-documents.
func Split(text string) Line {
	const longest = 16 << 10
	p := parser{text: plain.Head(text, longest)}
	p.line.isPart = len(text) > longest
	for p.at < len(p.text) {
		p.step()
	}
	p.endCommand(false)
	last := len(p.line.commands) - 1
	for i, c := range p.line.commands {
		if c.piped && i <= last {
			p.line.cuts = p.line.cuts || c.program() != "tail" && c.program() != "tee"
		}
	}
	return p.line
}

// parser is the state of Split.
type parser struct {
	text string
	at   int
	line Line
	word strings.Builder
	// begun is set if a word has begun, even an empty one, dropped if it is the target of a
	// redirection.
	begun, dropped bool
	// writes is set if that redirection is of output.
	writes         bool
	words, outputs []string
	piped          bool
	// ends are the lines that end the here-documents whose texts follow the present line.
	ends []string
}

func (p *parser) step() {
	c := p.text[p.at]
	switch {
	case c == '\\' && p.at+1 < len(p.text):
		if p.text[p.at+1] != '\n' {
			p.letters(p.text[p.at+1 : p.at+2])
		}
		p.at += 2
	case c == '\'', c == '"', c == '`':
		p.quoted(c)
	case c == '$' && strings.HasPrefix(p.text[p.at:], "$("):
		// including nested ones
		begin, depth := p.at, 0
		for p.at < len(p.text) {
			switch p.text[p.at] {
			case '(':
				depth++
			case ')':
				depth--
			}
			p.at++
			if depth == 0 && p.at > begin+1 {
				break
			}
		}
		p.letters(p.text[begin:p.at])
	case c == ' ', c == '\t':
		p.endWord()
		p.at++
	case c == '\n' && len(p.ends) > 0:
		p.hereDocuments()
	case c == '<' && strings.HasPrefix(p.text[p.at:], "<<") && !strings.HasPrefix(p.text[p.at:], "<<<"):
		p.hereDocument()
	case c == '<', c == '>':
		if isNumber(p.word.String()) { // the number of the stream
			p.word.Reset()
			p.begun = false
		}
		p.endWord()
		p.writes = c == '>'
		for p.at < len(p.text) && strings.IndexByte("<>&|", p.text[p.at]) >= 0 {
			p.at++
		}
		for p.at < len(p.text) && p.text[p.at] == ' ' {
			p.at++
		}
		p.dropped = true
	case c == '#' && !p.begun:
		if n := strings.IndexByte(p.text[p.at:], '\n'); n >= 0 {
			p.at += n
		} else {
			p.at = len(p.text)
		}
	case strings.IndexByte("|&;\n(){}", c) >= 0:
		p.operator(c)
	default:
		p.letters(p.text[p.at : p.at+1])
		p.at++
	}
}

// hereDocument reads the redirection of a here-document.
func (p *parser) hereDocument() {
	p.endWord()
	rest := strings.TrimLeft(strings.TrimPrefix(p.text[p.at+len("<<"):], "-"), " \t")
	end := strings.IndexAny(rest, " \t\n;|&<>()")
	if end < 0 {
		end = len(rest)
	}
	p.ends = append(p.ends, strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(rest[:end]))
	p.at = len(p.text) - len(rest) + end
}

// hereDocuments skips the texts of here-documents, up to the newline before what follows them. A text
// without an end isn't one, unless the line was cut.
func (p *parser) hereDocuments() {
	for _, end := range p.ends {
		at := p.at
		for found := false; !found; {
			if at == len(p.text) {
				if !p.line.isPart {
					p.ends = nil
					return
				}
				break
			}
			line, _, _ := strings.Cut(p.text[at+1:], "\n")
			at += 1 + len(line)
			found = strings.TrimLeft(line, "\t") == end
		}
		p.at = at
	}
	p.ends = nil
}

func (p *parser) letters(s string) {
	p.begun = true
	p.word.WriteString(s)
}

// quoted adds the text between quotes to the word.
func (p *parser) quoted(quote byte) {
	p.at++
	begin := p.at
	for p.at < len(p.text) && p.text[p.at] != quote {
		if p.text[p.at] == '\\' && quote != '\'' {
			p.at++
		}
		p.at++
	}
	p.at = min(p.at, len(p.text))
	p.letters(p.text[begin:p.at])
	p.at = min(p.at+1, len(p.text))
}

// operator ends a command at an operator.
func (p *parser) operator(c byte) {
	two := p.text[p.at:min(p.at+2, len(p.text))]
	switch two {
	case "&&":
		p.at += len(two)
		p.endCommand(false)
		return
	case "||", "|&":
		p.at += len(two)
		p.line.masked = true
		p.endCommand(two == "|&")
		return
	}
	p.at++
	before := len(p.words) > 0 || p.begun
	p.endCommand(c == '|')
	switch c {
	case '|', '&':
		p.line.masked = true
	case ';', '\n':
		p.line.masked = p.line.masked || before && strings.TrimLeft(p.text[p.at:], " \t\n;") != ""
	}
}

func (p *parser) endWord() {
	switch {
	case p.begun && !p.dropped:
		p.words = append(p.words, p.word.String())
	case p.begun && p.writes:
		p.outputs = append(p.outputs, p.word.String())
	}
	if p.begun {
		p.dropped = false
	}
	p.word.Reset()
	p.begun = false
}

// endCommand ends a command; piped is set if the next one reads its output.
func (p *parser) endCommand(piped bool) {
	p.endWord()
	p.dropped = false
	if len(p.words) > 0 {
		p.line.commands = append(p.line.commands, command{words: p.words, outputs: p.outputs, piped: p.piped}.bare())
	}
	p.words, p.outputs, p.piped = nil, nil, piped
}

// bare returns the command without leading assignments and runners such as sudo.
func (c command) bare() command {
	for len(c.words) > 0 {
		word := c.words[0]
		valued, runs := runner(word)
		name, _, assigns := strings.Cut(word, "=")
		assigns = assigns && name != "" && !strings.ContainsFunc(name, func(c rune) bool {
			return c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9')
		})
		if !runs && !assigns {
			break
		}
		c.words = c.words[1:]
		for runs && len(c.words) > 0 && strings.HasPrefix(c.words[0], "-") {
			skipped := 1
			if strings.Contains(valued, " "+c.words[0]+" ") {
				skipped++
			}
			c.words = c.words[min(skipped, len(c.words)):]
		}
		if word == "rtk" && len(c.words) > 1 && slices.Contains([]string{"test", "err", "proxy", "summary"}, c.words[0]) {
			c.words = c.words[1:]
		}
		if word == "timeout" && len(c.words) > 0 && c.words[0] != "" && '0' <= c.words[0][0] && c.words[0][0] <= '9' {
			c.words = c.words[1:]
		}
	}
	return c
}

// runner reports whether a program runs the command that follows its options, and returns
// the options that have a value.
func runner(word string) (valued string, ok bool) {
	switch word {
	case "sudo":
		return " -u -g -h -p -C ", true
	case "env":
		return " -u -C -S ", true
	case "nice", "ionice":
		return " -n -c ", true
	case "timeout":
		return " -k -s ", true
	case "time":
		return " -f -o ", true
	case "stdbuf":
		return " -i -o -e ", true
	case "nohup", "command", "exec", "npx", "bunx", "rtk", "setsid", "if", "then", "do", "!", "set":
		return "", true
	}
	return "", false
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// program returns the base name of the program, empty if there is none.
func (c command) program() string {
	if len(c.words) == 0 {
		return ""
	}
	return c.words[0][strings.LastIndexByte(c.words[0], '/')+1:]
}

// arguments returns the words after the program that are not flags.
func (c command) arguments() []string {
	var args []string
	for _, word := range c.words[min(1, len(c.words)):] {
		if !strings.HasPrefix(word, "-") {
			args = append(args, word)
		}
	}
	return args
}

// argument returns the n-th of the arguments from 0, or "" if there are fewer.
func (c command) argument(n int) string {
	if args := c.arguments(); n < len(args) {
		return args[n]
	}
	return ""
}
