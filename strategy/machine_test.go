package strategy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/session"
)

// TestEveryEventIsFired parses the sources: each event of the table is fired somewhere, by its
// name, and only session.Fire takes steps from the table.
func TestEveryEventIsFired(t *testing.T) {
	t.Parallel()
	names := map[session.Event]string{
		session.Start: "Start", session.TurnStart: "TurnStart", session.TurnEnd: "TurnEnd", session.TaskStep: "TaskStep",
		session.Complete: "Complete", session.GitCommit: "GitCommit", session.Stop: "Stop",
	}
	fired := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := called(call)
			if name == "Transition" {
				t.Errorf("%s takes a step without session.Fire", path)
			}
			if name != "Fire" && name != "ApplyEvent" && name != "stepOnce" {
				return true
			}
			for _, arg := range call.Args {
				if s, ok := arg.(*ast.SelectorExpr); ok && isSession(s.X) {
					fired[s.Sel.Name] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range session.Rules() {
		name, ok := names[rule.Event]
		if !ok || !fired[name] {
			t.Errorf("%s is fired nowhere", rule.Event)
		}
	}
}

func isSession(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "session"
}

// called returns the name of the function or method that is called.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}
