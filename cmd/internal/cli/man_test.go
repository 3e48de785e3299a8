package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

func TestManPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := cli.WriteManPages(app.Env{Getenv: func(string) string { return "" }, Version: "1.2.3"}, "2026-01-31", dir); err != nil {
		t.Fatal(err)
	}
	for _, path := range cli.CommandPaths() {
		name := strings.ReplaceAll(path, " ", "-")
		data, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			if !strings.HasPrefix(path, "entire hooks") {
				t.Error(err)
			}
			continue
		}
		text := string(data)
		if !strings.HasPrefix(text, `.TH "`+strings.ToUpper(strings.ReplaceAll(name, "-", `\-`))+`" 1 2026-01-31 "entire 1.2.3" "Entire"`) {
			t.Errorf("%s begins with %.80q", name, text)
		}
		for _, line := range regexp.MustCompile(`(?m)^[.'].*`).FindAllString(text, -1) {
			if !regexp.MustCompile(`^\.(TH|SH|nf|fi|nh)\b`).MatchString(line) {
				t.Errorf("%s has the request %q", name, line)
			}
		}
		if strings.Contains(text, "\t") {
			t.Errorf("%s has a tab", name)
		}
		if lint, err := exec.LookPath("mandoc"); err == nil {
			if out, err := exec.Command(lint, "-T", "lint", "-W", "warning", filepath.Join(dir, name+".1")).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		}
	}
}
