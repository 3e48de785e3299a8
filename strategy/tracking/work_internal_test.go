package tracking

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
		"":                                        reachable, // a tool without a command
		"true":                                    unreached,
		"ls -la && grep -rn foo src2":             unreached,
		"sed -i s/x/y/ b.go":                      unreached,
		"sed -i s/x/y/ src/a.go":                  reached,
		"cd src && sed -i s/x/y/ a.go":            reached,
		"sed -i s/x/y/ /p/src/a.go":               reached,
		"sed -i s/x/y/ src/*.go":                  reached,
		"gofmt -w src":                            reached,
		"cat >> b.go <<'END'\nx := 1\nEND":        unreached,
		"cat >> src/a.go <<'END'\nx\nEND":         reached,
		"make generate":                           reachable,
		"python3 gen.py":                          reachable,
		"sed -i s/x/y/ $(git ls-files)":           reachable,
		"find . -name '*.txt' -exec x {} +":       reachable,
		"cp -r ../other/. .":                      reachable,
		"cp b.go c.go":                            unreached,
		"sed -i 's/)$/);/' b.go":                  unreached,
		"git status":                              unreached,
		"git stash pop":                           reachable,
		"git commit -qm x":                        unreached,
		"cat src/a.go":                            unreached,
		"cat src/a.go > src/b.go":                 unreached,
		"cat b.go > src/a.go":                     reached,
		"head -n 2 src/a.go > t && mv t src/a.go": reached,
		"grep -n x src/a.go | head":               unreached,
		"grep -v x src/a.go | tee src/a.go":       reached,
		"sed -n 1,5p src/a.go":                    unreached,
		"sed -n -i 1,5p src/a.go":                 reached,
		"sed -n 'w src/a.go' b.go":                reached,
		"git diff src/a.go":                       unreached,
		"mkdir -p src && cat > src/b.go":          unreached,
		"mkdir -p src && cp b.go src":             reached,
		"touch src/{a,b}.go":                      reachable,
		"awk '{ print $1, $2 }' b.go":             unreached,
		"printf x > $'src/\\141.go'":              reachable,
	} {
		if got := w.reach([]string{command}, path); got != want {
			t.Errorf("%q: %d, not %d", command, got, want)
		}
	}
}

// TestReachOfOddNames checks names that aren't words of a command.
func TestReachOfOddNames(t *testing.T) {
	t.Parallel()
	w := &Work{repo: &git.Repo{Root: "/p"}, parsed: map[string]parsedCommand{}}
	for _, c := range []struct {
		command, path string
		want          reach
	}{
		{`echo x > ./-dash.txt`, "-dash.txt", reached},
		{`echo x > ":(top)magic"`, ":(top)magic", reached},
		{`echo x > " space "`, " space ", reached},
		{`echo x > my\ file.txt`, "my file.txt", reached},
		{`cd "my folder" && echo x > a.txt`, "my folder/a.txt", reached},
		{`echo x > 'it'"'"'s.txt'`, "it's.txt", reached},
		{`echo x > b.txt`, "my file.txt", unreached},
		{`echo x > b.txt`, "caf\xe9.txt", reachable},
	} {
		if got := w.reach([]string{c.command}, c.path); got != c.want {
			t.Errorf("%q, %q: %d, not %d", c.command, c.path, got, c.want)
		}
	}
}
