package agent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/session/agent"
)

// TestNoOtherPackageNamesAnAgent: only the packages of agents' hooks and transcripts name an
// agent. Other packages use the table, except for features of Claude Code alone: its MCP
// server, status line and question before a clear.
func TestNoOtherPackageNamesAnAgent(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	allowed := []string{"session/agent", "session/transcript", "hooks", "internal/testkit", "internal/redact", "cmd/internal/cli/setup"}
	claudeOnly := []string{"cmd/internal/cli/app/agentfiles.go"}
	var names []string
	for _, a := range agent.All() {
		names = append(names, a.Name, a.Label)
	}
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		isAllowed := slices.ContainsFunc(allowed, func(dir string) bool { return rel == dir || strings.HasPrefix(rel, dir+"/") })
		switch {
		case err != nil:
			return err
		case d.IsDir() && (isAllowed || strings.HasPrefix(d.Name(), ".") && rel != path):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || slices.Contains(claudeOnly, rel):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if err == nil && n.Kind == token.STRING && slices.Contains(names, text) {
					t.Errorf("%s names %s", files.Position(n.Pos()), text)
				}
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "agent" && isConstructor(n.Sel.Name) {
					t.Errorf("%s names agent.%s", files.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isConstructor reports whether name is a function of this package that returns one agent.
func isConstructor(name string) bool {
	return slices.Contains([]string{"ClaudeCode", "Codex", "Copilot", "Cursor", "Gemini", "OpenCode", "Pi", "Qwen"}, name)
}
