package contextstore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// The limits of an outline.
const (
	maxDeclarations = 200
	maxDeclaration  = 160     // bytes of a line
	maxOutlined     = 1 << 20 // bytes of a file that are read
	maxSpecs        = 12      // of a group of constants or variables
)

// Outline returns the declarations in the content of the file called name: at most 200, and
// none if the language is unknown.
func Outline(name, content string) []recall.Declaration {
	if len(content) > maxOutlined {
		content = content[:strings.LastIndexByte(content[:maxOutlined], '\n')+1]
	}
	if strings.IndexByte(content, 0) >= 0 {
		return nil
	}
	ext := strings.ToLower(path.Ext(name))
	if ext != ".go" {
		return outlineLines(sourceLanguageOf(ext, path.Base(name)), content)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution)
	if err != nil { // a syntax error
		return outlineLines(&sourceLanguage{keys: strings.Fields("func type const var")}, content)
	}
	o := outliner{lines: strings.Split(content, "\n")}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			o.add(set.PositionFor(d.Pos(), false).Line)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			for i, spec := range d.Specs {
				if i < maxSpecs || d.Tok == token.TYPE {
					pos := spec.Pos()
					if !d.Lparen.IsValid() { // the line of the keyword
						pos = d.Pos()
					}
					o.add(set.PositionFor(pos, false).Line)
				}
			}
		}
	}
	return o.list
}

// outliner collects declarations, at most one per line.
type outliner struct {
	lines []string
	list  []recall.Declaration
}

// add adds the line with a number, from 1. It returns false if the outline is full.
func (o *outliner) add(line int) bool {
	if len(o.list) >= maxDeclarations {
		return false
	}
	if line < 1 || line > len(o.lines) || len(o.list) > 0 && o.list[len(o.list)-1].Line >= line {
		return true
	}
	text := strings.TrimRight(strings.TrimSpace(strings.ToValidUTF8(o.lines[line-1], "")), " \t{")
	if len(text) > maxDeclaration {
		text = plain.Head(text, maxDeclaration-len("…")) + "…"
	}
	if text != "" {
		o.list = append(o.list, recall.Declaration{Line: line, Text: text})
	}
	return true
}

// sourceLanguage describes the lines of declarations in a source file. Lines within comments and
// strings may be mistaken for declarations.
type sourceLanguage struct {
	// keys begin a declaration, optionally after modifiers.
	keys, modifiers []string
	// deep is the maximum indentation in columns; a tab counts as four.
	deep int
	// shape recognizes declarations that do not begin with a keyword.
	shape func(line string, indent int) bool
	// comment begins lines that are skipped.
	comment []string
}

// sourceLanguageOf returns the language of a file by its extension or name, nil if unknown.
func sourceLanguageOf(ext, name string) *sourceLanguage {
	switch ext {
	case ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte":
		return &sourceLanguage{
			keys:      strings.Fields("function function* class interface type enum namespace const let var"),
			modifiers: strings.Fields("export default declare abstract async"), comment: strings.Fields("// * /*"),
			shape: func(line string, indent int) bool {
				return indent > 0 && indent <= 4 && strings.HasSuffix(line, "{") &&
					isCall(line, "async", "static", "private", "public", "protected", "get", "set", "readonly", "override")
			},
		}
	case ".py", ".pyi":
		return &sourceLanguage{keys: strings.Fields("def class"), modifiers: strings.Fields("async"), deep: 8, comment: strings.Fields("#")}
	case ".rb", ".rake":
		return &sourceLanguage{keys: strings.Fields("def class module"), deep: 8, comment: strings.Fields("#")}
	case ".rs":
		return &sourceLanguage{
			keys: strings.Fields("fn struct enum trait impl impl< mod type static const union macro_rules!"), deep: 4,
			modifiers: strings.Fields(`pub pub(crate) pub(super) async unsafe const extern "C" default`), comment: strings.Fields("// *"),
		}
	case ".java", ".kt", ".kts", ".cs", ".scala", ".swift", ".dart", ".groovy":
		// Members begin with modifiers or a type.
		modifiers := strings.Fields("public private protected internal static final abstract override open sealed data suspend inline async virtual partial readonly default synchronized fileprivate mutating case")
		return &sourceLanguage{
			keys:      strings.Fields("class interface enum record struct protocol extension object trait fun func def init namespace typealias"),
			modifiers: modifiers, deep: 8, comment: strings.Fields("// * /* @"),
			shape: func(line string, indent int) bool {
				first, _, _ := strings.Cut(line, " ")
				return indent <= 8 && slices.Contains(modifiers, first) && first != "case" && first != "default" && strings.Contains(line, "(")
			},
		}
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".m", ".mm":
		return &sourceLanguage{
			keys:    strings.Fields("struct class enum union typedef namespace template #define"),
			comment: strings.Fields("// * /*"), shape: isCFunction,
		}
	case ".php":
		return &sourceLanguage{
			keys: strings.Fields("function class interface trait enum namespace"), deep: 8, comment: strings.Fields("// # *"),
			modifiers: strings.Fields("public private protected static abstract final readonly"),
		}
	case ".sh", ".bash", ".zsh", ".ksh":
		return &sourceLanguage{
			keys: strings.Fields("function"), deep: 4, comment: strings.Fields("#"),
			shape: func(line string, indent int) bool {
				name, _, ok := strings.Cut(line, "()")
				return ok && indent <= 4 && isName(strings.TrimSpace(name))
			},
		}
	case ".lua":
		return &sourceLanguage{keys: strings.Fields("function"), modifiers: strings.Fields("local"), deep: 4, comment: strings.Fields("--")}
	case ".ex", ".exs":
		return &sourceLanguage{keys: strings.Fields("def defp defmodule defmacro"), deep: 8, comment: strings.Fields("#")}
	case ".proto":
		return &sourceLanguage{keys: strings.Fields("message service rpc enum"), deep: 4, comment: strings.Fields("//")}
	case ".sql":
		return &sourceLanguage{keys: strings.Fields("CREATE ALTER create alter"), comment: strings.Fields("--")}
	case ".md", ".markdown":
		return &sourceLanguage{shape: func(line string, _ int) bool {
			level := len(line) - len(strings.TrimLeft(line, "#"))
			return level > 0 && level <= 6 && level < len(line) && line[level] == ' '
		}}
	case ".toml", ".ini", ".cfg":
		return &sourceLanguage{shape: func(line string, indent int) bool { return indent == 0 && line[0] == '[' }}
	case ".mk":
		return &sourceLanguage{shape: isTarget, comment: strings.Fields("#")}
	}
	if name == "Makefile" || name == "GNUmakefile" {
		return &sourceLanguage{shape: isTarget, comment: strings.Fields("#")}
	}
	return nil
}

// outlineLines returns the lines that are declarations of the language.
func outlineLines(l *sourceLanguage, content string) []recall.Declaration {
	if l == nil {
		return nil
	}
	o := outliner{lines: strings.Split(content, "\n")}
	fence := ""
	for i, line := range o.lines {
		text := strings.TrimSpace(line)
		mark := "" // of a Markdown fence
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			mark = text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
		}
		if mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
		}
		space := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		indent := len(space) + 3*strings.Count(space, "\t")
		if fence == "" && text != "" && l.declares(text, indent) && !o.add(i+1) {
			break
		}
	}
	return o.list
}

func (l *sourceLanguage) declares(text string, indent int) bool {
	for _, mark := range l.comment {
		if strings.HasPrefix(text, mark) {
			return false
		}
	}
	if l.shape != nil && l.shape(text, indent) {
		return true
	}
	if indent > l.deep {
		return false
	}
	for rest := text; rest != ""; {
		first, after, _ := strings.Cut(rest, " ")
		if slices.Contains(l.keys, first) && after != "" {
			return true
		}
		if generic, _, cut := strings.Cut(first, "<"); cut && slices.Contains(l.keys, generic+"<") {
			return true
		}
		if !slices.Contains(l.modifiers, first) {
			return false
		}
		rest = strings.TrimSpace(after)
	}
	return false
}

// isCall reports whether a line is a name, optionally after words of before, and
// parameters.
func isCall(line string, before ...string) bool {
	head, _, ok := strings.Cut(line, "(")
	if !ok {
		return false
	}
	parts := strings.Fields(head)
	for i, part := range parts {
		if i == len(parts)-1 {
			return isName(part) && !slices.Contains(strings.Fields("if for while switch catch return function with else do"), part)
		}
		if !slices.Contains(before, part) {
			return false
		}
	}
	return false
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetterOrDigit(c) && c != '_' && c != '$' && c != '#' && c != '-' {
			return false
		}
	}
	return s != ""
}

// isCFunction reports whether an unindented line is the head of a function.
func isCFunction(line string, indent int) bool {
	head, _, ok := strings.Cut(line, "(")
	if !ok || indent > 0 || !isLetterOrDigit(line[0]) || strings.Contains(head, "=") {
		return false
	}
	first, rest, _ := strings.Cut(head, " ")
	return rest != "" && !slices.Contains(strings.Fields("if for while switch return else do case"), first)
}

// isTarget reports whether a line of a makefile is a rule.
func isTarget(line string, indent int) bool {
	name, rest, ok := strings.Cut(line, ":")
	return ok && indent == 0 && name != "" && !strings.HasPrefix(rest, "=") && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "=$ ")
}
