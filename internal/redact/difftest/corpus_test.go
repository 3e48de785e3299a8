package difftest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/cmd/generate/config/utils"
)

// TestRules plants generated secrets of every rule: alone, in lines of configuration and code, next
// to each other, and slightly changed.
func TestRules(t *testing.T) {
	t.Parallel()
	e := newEngines(t)
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	if n, err := strconv.Atoi(os.Getenv("DIFF_ROUNDS")); err == nil {
		rounds = n
	}
	silent := 0
	for id, rule := range e.theirs.Config.Rules {
		if rule.Regex == nil {
			continue
		}
		found := 0
		s := newSampler(uint64(len(id)) * 7919)
		for range rounds {
			secret := s.sample(rule.Regex.String())
			keyword := s.pick(append(rule.Keywords, "token")...)
			for _, text := range []string{
				secret,
				"export X='" + secret + "'\n# " + keyword + "\n",
				keyword + "_api_key = \"" + secret + "\"",
				"first line\n" + secret + "\nlast line",
				"a " + keyword + " " + secret + " gitleaks:allow\n" + secret,
				jsonText(secret),
				strings.Repeat("filler text without anything\n", 40) + keyword + ": " + secret + "\n",
				s.mutate(keyword + "=" + secret),
				s.mutate(s.mutate(secret + "\n" + keyword)),
				s.mutate(secret + " " + s.mutate(secret)),
			} {
				found += e.compare(t, text)
			}
			if t.Failed() {
				t.Fatalf("rule %s", id)
			}
		}
		if found == 0 {
			silent++
			t.Logf("rule %s: nothing found in its samples", id)
		}
	}
	if silent > 10 {
		t.Errorf("%d rules found nothing", silent)
	}
}

// TestAssignments assigns values of many forms to identifiers.
func TestAssignments(t *testing.T) {
	t.Parallel()
	e := newEngines(t)
	s := newSampler(3)
	found := 0
	for id, rule := range e.theirs.Config.Rules {
		for _, k := range rule.Keywords {
			value := s.sample(s.pick(`[a-z0-9]{32}`, `[a-f0-9]{64}`, `[A-Za-z0-9+/]{40}={0,2}`, `[\w.=-]{10,150}`, `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`))
			for _, text := range utils.GenerateSampleSecrets(k, value) {
				found += e.compare(t, text)
				found += e.compare(t, s.mutate(text))
			}
		}
		if t.Failed() {
			t.Fatalf("rule %s", id)
		}
	}
	t.Logf("%d findings", found)
}

// TestGitleaksSamples compares on every string in the sources of gitleaks' rules, which contain
// examples of secrets and of harmless texts, and of their tests.
func TestGitleaksSamples(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/zricethezav/gitleaks/v8").Output()
	if err != nil {
		t.Skipf("no sources of gitleaks: %v", err)
	}
	e := newEngines(t)
	texts, found := 0, 0
	for _, dir := range []string{"cmd/generate/config/rules", "detect"} {
		root := filepath.Join(strings.TrimSpace(string(out)), dir)
		walkFiles(t, root, func(path string, data []byte) {
			found += e.compare(t, string(data))
			if filepath.Ext(path) != ".go" {
				return
			}
			for _, text := range stringsOf(t, path, data) {
				texts++
				found += e.compare(t, text)
				found += e.compare(t, jsonText(text))
			}
		})
	}
	t.Logf("%d strings, %d findings", texts, found)
}

// TestOrdinaryText compares on the sources of the standard library and on the files below
// ENTIRE_SAMPLES: whole, by line, and by string of a line of JSON.
func TestOrdinaryText(t *testing.T) {
	t.Parallel()
	e := newEngines(t)
	roots := []string{}
	if out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output(); err == nil {
		root := strings.TrimSpace(string(out))
		roots = append(roots, filepath.Join(root, "src/crypto/tls"), filepath.Join(root, "src/net/http"))
	}
	if dir := os.Getenv("ENTIRE_SAMPLES"); dir != "" {
		roots = append(roots, dir)
	}
	texts, found := 0, 0
	for _, root := range roots {
		walkFiles(t, root, func(path string, data []byte) {
			if len(data) < 400_000 && !testing.Short() {
				texts++
				found += e.compare(t, string(data))
			}
			if filepath.Ext(path) != ".jsonl" {
				return
			}
			for line := range strings.Lines(string(data)) {
				texts++
				found += e.compare(t, line)
				var v any
				if json.Unmarshal([]byte(line), &v) == nil {
					eachString(v, func(s string) { texts++; found += e.compare(t, s) })
				}
			}
		})
	}
	t.Logf("%d texts, %d findings", texts, found)
}

func FuzzDiff(f *testing.F) {
	e := newEngines(f)
	s := newSampler(11)
	for _, rule := range e.theirs.Config.Rules {
		if rule.Regex != nil {
			f.Add(s.sample(rule.Regex.String()))
		}
	}
	f.Fuzz(func(t *testing.T, text string) { e.compare(t, text) })
}

func jsonText(s string) string {
	b, err := json.Marshal(map[string]string{"text": s})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func eachString(v any, do func(string)) {
	switch v := v.(type) {
	case string:
		do(v)
	case []any:
		for _, x := range v {
			eachString(x, do)
		}
	case map[string]any:
		for _, x := range v {
			eachString(x, do)
		}
	}
}

func walkFiles(t *testing.T, root string, do func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			do(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stringsOf returns the string literals of a Go file.
func stringsOf(t *testing.T, path string, src []byte) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(fmt.Errorf("parse %s: %w", path, err))
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				all = append(all, s)
			}
		}
		return true
	})
	return all
}
