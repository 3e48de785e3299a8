package contextstore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"unicode/utf8"

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
		cut := maxDeclaration - len("…")
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	if text != "" {
		o.list = append(o.list, recall.Declaration{Line: line, Text: text})
	}
	return true
}
