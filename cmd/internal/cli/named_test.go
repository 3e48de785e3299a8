package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
)

// Commands that messages and help name exist with their flags, and have no newer name.
func TestNamedCommands(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`entire ([^`\"]+)`?")
	checked := 0
	for _, dir := range []string{"../..", "../../../hooks", "../../../session", "../../../strategy"} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(source)) {
				if strings.HasPrefix(strings.TrimSpace(line), "//") {
					continue
				}
				for _, found := range named.FindAllStringSubmatch(line, -1) {
					checked++
					if problem := cli.CheckNamed(strings.Fields(found[1])); problem != "" {
						t.Errorf("%s names `entire %s`: %s", path, found[1], problem)
					}
				}
			}
			return nil
		})
		fine(t, err)
	}
	if checked < 100 { //nolint:mnd // about half as many as there are
		t.Errorf("found %d commands", checked)
	}
}

// A command's description fits on a line of the list of commands.
func TestShortDescriptions(t *testing.T) {
	t.Parallel()
	const most = 60
	for name, text := range cli.Descriptions() {
		if len(text) > most && strings.Contains(name, " ") || text == "" || strings.HasSuffix(text, ".") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
