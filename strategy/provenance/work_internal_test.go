package provenance

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
)

// TestReachOfCommands checks which commands can have changed a file.
func TestReachOfCommands(t *testing.T) {
	t.Parallel()
	const path = "src/a.go"
	w := &Work{repo: &git.Repo{Root: "/p"}, parsed: map[string]parsedCommand{}}
	for command, want := range map[string]reach{
		"":                                  reachable, // a tool without a command
		"true":                              unreached,
		"ls -la && grep -rn foo src2":       unreached,
		"sed -i s/x/y/ b.go":                unreached,
		"sed -i s/x/y/ src/a.go":            reached,
		"cd src && sed -i s/x/y/ a.go":      reached,
		"sed -i s/x/y/ /p/src/a.go":         reached,
		"sed -i s/x/y/ src/*.go":            reached,
		"gofmt -w src":                      reached,
		"cat >> b.go <<'END'\nx := 1\nEND":  unreached,
		"cat >> src/a.go <<'END'\nx\nEND":   reached,
		"make generate":                     reachable,
		"python3 gen.py":                    reachable,
		"sed -i s/x/y/ $(git ls-files)":     reachable,
		"find . -name '*.txt' -exec x {} +": reachable,
		"cp -r ../other/. .":                reachable,
		"cp b.go c.go":                      unreached,
		"sed -i 's/)$/);/' b.go":            unreached,
		"git status":                        unreached,
		"git stash pop":                     reachable,
		"git commit -qm x":                  reachable, // hooks of the commit run
	} {
		if got := w.reach([]string{command}, path); got != want {
			t.Errorf("%q: %d, not %d", command, got, want)
		}
	}
}
