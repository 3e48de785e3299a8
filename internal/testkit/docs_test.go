package testkit_test

import (
	"bytes"
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/settings"
)

const moduleRoot = "../.."

// goFiles calls use with the contents of each Go file of the module.
func goFiles(t *testing.T, use func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != moduleRoot:
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			use(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNamedTestsExist checks that each test and script that the pages on security
// name exists, and that each attack is on one of them.
func TestNamedTestsExist(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	goFiles(t, func(path string, data []byte) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range declared.FindAllSubmatch(data, -1) {
				tests[string(m[1])] = true
			}
		}
	})
	scripts := map[string]bool{}
	paths, err := filepath.Glob(moduleRoot + "/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	areas := map[string]bool{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		area, _, _ := strings.Cut(name, "-")
		scripts[name], areas[area] = true, true
	}
	quoted := regexp.MustCompile("`([^`\n]+)`")
	all := map[string]bool{}
	for _, page := range []string{"threat-model.md", "security-tests.md"} {
		data, err := os.ReadFile(filepath.Join(moduleRoot, "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, m := range quoted.FindAllSubmatch(data, -1) {
			name := strings.TrimSuffix(string(m[1]), ".txtar")
			area, rest, _ := strings.Cut(name, "-")
			switch {
			case regexp.MustCompile(`^(Test|Fuzz)[A-Z]\w*$`).MatchString(name):
				all[name] = true
				found++
				if !tests[name] {
					t.Errorf("%s: there is no test %s", page, name)
				}
			case rest == "*" && areas[area], scripts[name]:
				all[name] = true
				found++
			case regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`).MatchString(name) && areas[area]:
				t.Errorf("%s: there is no script %s", page, name)
			}
		}
		if found < 20 {
			t.Errorf("%s names %d tests", page, found)
		}
	}
	for name := range tests {
		if strings.HasPrefix(name, "TestAttack") && !all[name] {
			t.Errorf("%s is on no page", name)
		}
	}
	for name := range scripts {
		if strings.HasPrefix(name, "attack-") && !all[name] {
			t.Errorf("the script %s is on no page", name)
		}
	}
}

// variables are the program's variables that set no key. The reason explains why a hostile value,
// for example from the env block of a project's agent settings, is harmless, or describes its
// effect.
var variables = map[string]string{
	"ENTIRE_NO_DETACH":               "work is done in the hook, which is bounded, and not after it",
	"ENTIRE_TEST_TTY":                "a commit is taken for a person's; the question of commit_linking is a yes, which anybody's silence is",
	"ENTIRE_TEST_CLAUDE_PROJECT_DIR": "moves the folder that transcripts are read from; which file, the agent says",
	"ENTIRE_TEST_GEMINI_PROJECT_DIR": "as ENTIRE_TEST_CLAUDE_PROJECT_DIR",
	"ENTIRE_BISECT":                  "set for the command of a bisect, never read",
	"ENTIRE_SUMMARIZING":             "nothing is recorded, as by enabled false",
	"ENTIRE_AUTO_COMMIT":             "a commit is taken for the turn's own",
	"ENTIRE_LINK":                    "an amend with a message of its own gets no link, or that of a session recorded here",
	"ENTIRE_STATUSLINE":              "the status line is empty",
	"ENTIRE_HOOK_":                   "the guard of a git hook against itself: the hook does nothing",
	"ENTIRE_FAULT":                   "only in a program built for crash tests",
	"ENTIRE_FAULT_IN":                "as ENTIRE_FAULT",
	"ENTIRE_FAULT_LOG":               "as ENTIRE_FAULT",
	"ENTIRE_FAULT_MARK":              "as ENTIRE_FAULT",
	"ENTIRE_":                        "the beginning of the variables of keys",
}

// TestAttackEveryVariableIsKnown checks that each variable that the program reads belongs to a key,
// whose scope applies (TestAttackVariablesOfTheClient), or is in variables. The author of a new one
// must decide what a repository may do with it.
func TestAttackEveryVariableIsKnown(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	is := settings.Load(settings.Sources{Getenv: func(string) string { return "" }})
	for _, v := range is.Values() {
		known[settings.Variable(v.Key)] = true
	}
	shorter := map[string]bool{ // short names of keys, see docs/formats/settings.md
		"ENTIRE_CHECKPOINTS_PRIMARY":      true,
		"ENTIRE_AUTO_CHECKPOINT_ON_CLEAR": true, "ENTIRE_AUTO_RESUME": true, "ENTIRE_AUTO_RESUME_ON_START": true,
		"ENTIRE_CHECKPOINT_THRESHOLD": true, "ENTIRE_CHECKPOINT_MAX_SIZE": true, "ENTIRE_CHECKPOINT_MODE": true, "ENTIRE_VERIFY_BEFORE_CLEAR": true,
	}
	name := regexp.MustCompile(`"(ENTIRE_[A-Z_]*)`)
	seen := map[string]bool{}
	goFiles(t, func(path string, data []byte) {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(filepath.ToSlash(path), "/internal/testkit/") {
			return
		}
		for _, m := range name.FindAllSubmatch(data, -1) {
			v := string(bytes.TrimSpace(m[1]))
			seen[v] = true
			if _, ok := variables[v]; !ok && !known[v] && !shorter[v] {
				t.Errorf("%s reads %s: decide what a repository may do with it", path, v)
			}
		}
	})
	for v := range variables {
		if !seen[v] {
			t.Errorf("%s is read nowhere", v)
		}
	}
}

// TestNamedFilesExist checks that each file of the module that a page names exists,
// and that a function named after its file is declared there. Changelog and ADRs are
// left out, as they are about the past.
func TestNamedFilesExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`((?:bands|checkpoint|cmd|docs|hooks|internal|session|strategy|testdata)/[\\w./*-]+\\.(?:go|md|txtar|sh|py))`(?:\\s+`(\\w+)`)?")
	found := 0
	check := func(page string) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(data, -1) {
			found++
			path, name := string(m[1]), string(m[2])
			files, err := filepath.Glob(filepath.Join(moduleRoot, path))
			if err != nil || len(files) == 0 {
				t.Errorf("%s: there is no file %s", page, path)
				continue
			}
			if name == "" || filepath.Ext(path) != ".go" {
				continue
			}
			source, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			declared := regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const )` + name + `\b`)
			if !declared.Match(source) {
				t.Errorf("%s: %s doesn't declare %s", page, path, name)
			}
		}
	}
	err := filepath.WalkDir(filepath.Join(moduleRoot, "docs"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "adr":
			return filepath.SkipDir
		case filepath.Ext(path) == ".md" && d.Name() != "changelog.md":
			check(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check(filepath.Join(moduleRoot, "README.md"))
	if found < 50 {
		t.Errorf("the pages name %d files", found)
	}
}

// TestPackagesOfStrategyImportInOrder checks that the table of architecture.md lists
// the packages below strategy, and that each imports only those above it.
func TestPackagesOfStrategyImportInOrder(t *testing.T) {
	t.Parallel()
	checkImportOrder(t, "strategy", regexp.MustCompile("(?m)^\\| [a-z]* ?\\| `([a-z]+)` \\| "))
}

// TestPackagesOfBandsImportInOrder checks the same for the packages below bands.
func TestPackagesOfBandsImportInOrder(t *testing.T) {
	t.Parallel()
	checkImportOrder(t, "bands", regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| "))
}

// checkImportOrder checks the table of architecture.md that lists the packages in and
// below a folder, one in each row. The table begins after the heading "package of
// `folder`", or at the first row.
func checkImportOrder(t *testing.T, folder string, row *regexp.Regexp) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(moduleRoot, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, table, ok := strings.Cut(string(page), "| package of `"+folder+"` |"); ok {
		table, _, _ = strings.Cut(table, "\n\n")
		page = []byte(table)
	}
	var order []string
	for _, m := range row.FindAllSubmatch(page, -1) {
		order = append(order, string(m[1]))
	}
	entries, err := os.ReadDir(filepath.Join(moduleRoot, folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" && !slices.Contains(order, e.Name()) {
			t.Errorf("the table doesn't list %s", e.Name())
		}
	}
	for i, name := range order {
		dir := filepath.Join(moduleRoot, folder, name)
		if name == folder {
			dir = filepath.Dir(dir)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("there is no package %s", name)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, other := range importsBelow(t, file, folder) {
				if at := slices.Index(order, other); at < 0 || at >= i {
					t.Errorf("%s imports %s, which is not above %s in the table", file, other, name)
				}
			}
		}
	}
}

// importsBelow returns the names of the packages in or below a folder of the module
// that a file imports.
func importsBelow(t *testing.T, file, folder string) []string {
	t.Helper()
	source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	imported := regexp.MustCompile(`entire/` + folder + `(?:/([a-z]+))?$`)
	var names []string
	for _, spec := range source.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if m := imported.FindStringSubmatch(path); m != nil {
			names = append(names, cmp.Or(m[1], folder))
		}
	}
	return names
}

// TestNoPackageOpensConnections checks that no package of the module imports one that opens network
// connections: only git sends data to other machines.
func TestNoPackageOpensConnections(t *testing.T) {
	t.Parallel()
	opens := regexp.MustCompile(`^(net|net/(http|rpc|smtp)(/.*)?|crypto/tls|golang\.org/x/net/.*|.*/go-git/v5/plumbing/transport(/.*)?)$`)
	goFiles(t, func(path string, data []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		source, err := parser.ParseFile(token.NewFileSet(), path, data, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range source.Imports {
			if name := strings.Trim(spec.Path.Value, `"`); opens.MatchString(name) {
				t.Errorf("%s imports %s", path, name)
			}
		}
	})
}
