package testkit_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Limits of a package and of a type, without tests and generated files. Larger ones are split, or
// listed in oversize with a reason.
const (
	mostMethods = 25
	mostFiles   = 25
	mostLines   = 4000
)

// oversize lists the exceptions with their limits.
var oversize = map[string]int{
	"internal/git.Repo":            28, // each method starts git, or reads or writes objects
	"strategy/workspace.Workspace": 27, // shared by all packages of strategy
}

// TestSizes checks the limits of packages and types.
func TestSizes(t *testing.T) {
	t.Parallel()
	files, lines, methods := map[string]int{}, map[string]int{}, map[string]int{}
	counted := map[string]bool{} // files that differ only in their system count once
	system := regexp.MustCompile(`_(linux|darwin|other)\.go$`)
	goFiles(t, func(name string, data []byte) {
		dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(name), filepath.FromSlash(moduleRoot)+"/"))
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(dir, "internal/testkit") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		if ast.IsGenerated(parsed) {
			return
		}
		if base := system.ReplaceAllString(name, ".go"); !counted[base] {
			counted[base] = true
			files[dir]++
		}
		lines[dir] += bytes.Count(data, []byte("\n"))
		for _, decl := range parsed.Decls {
			if f, is := decl.(*ast.FuncDecl); is && f.Recv != nil {
				methods[dir+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
	})
	check := func(of map[string]int, most int, what string) {
		for name, n := range of {
			if n > max(most, oversize[name]) {
				t.Errorf("%s has %d %s, and at most %d are permitted", name, n, what, max(most, oversize[name]))
			}
		}
	}
	check(files, mostFiles, "files")
	check(lines, mostLines, "lines")
	check(methods, mostMethods, "methods")
	for name, most := range oversize {
		if n := max(files[name], methods[name], lines[name]); n < most {
			t.Errorf("%s has %d: lower its number in oversize", path.Base(name), n)
		}
	}
}

// receiver returns the name of a receiver's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}
