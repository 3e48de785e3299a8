package tracking

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
)

func TestExplained(t *testing.T) {
	t.Parallel()
	const path, before = "a.go", "first := load(1)\nsecond := load(2)\n"
	for name, c := range map[string]struct {
		command, now, want string
		unjudged           bool
		from               []string
	}{
		"appended":                      {command: "cat >> a.go <<'END'\nthird := load(3)\nEND", now: before + "third := load(3)\n", want: before + "third := load(3)\n"},
		"and by another":                {command: "cat >> a.go <<'END'\nthird := load(3)\nEND", now: before + "third := load(3)\nmine := store(9)\n", want: before + "third := load(3)\n"},
		"escaped":                       {command: `printf 'a 27\nb 27\n' >> a.go`, now: before + "a 27\nb 27\n", want: before + "a 27\nb 27\n"},
		"part of a word":                {command: "sed -i s/loa/Loa/ a.go", now: "first := Load(1)\nsecond := Load(2)\n", want: "first := Load(1)\nsecond := Load(2)\n"},
		"replaced":                      {command: "sed -i 's/first/zeroth/' a.go", now: "zeroth := load(1)\nsecond := load(2)\n", want: "zeroth := load(1)\nsecond := load(2)\n"},
		"indented":                      {command: "sed -i 's/^/\t/' a.go", now: "\tfirst := load(1)\n\tsecond := load(2)\n", want: "\tfirst := load(1)\n\tsecond := load(2)\n"},
		"by another only":               {command: "sed -i 's/)$/);/' a.go", now: before + "mine := store(9)\n", want: before},
		"by a program":                  {command: "gofmt -w a.go", now: before + "x\n", unjudged: true},
		"of a variable":                 {command: "echo $X >> a.go", now: before + "x\n", unjudged: true},
		"of another file":               {command: "cat explain.go >> a.go", now: before + "x\n", unjudged: true},
		"of a file elsewhere":           {command: "cat /etc/hostname >> a.go", now: before + "x\n", unjudged: true},
		"a longer word":                 {command: "sed -i 's/)$/);/' a.go", now: before + "first1 := load(12)\n", want: before},
		"of a renamed file":             {command: "mv b.go a.go", now: before + "x\n", unjudged: true},
		"a text's word in a longer one": {command: "cat >> a.go <<'END'\nthird := load(3)\nEND", now: before + "third := load(3)\nthird1 := load(3)\n", want: before + "third := load(3)\n"},
		"renamed":                       {command: "mv b.go a.go", from: []string{"b.go"}, now: before + "mine := store(9)\n", want: before},
		"changed and renamed":           {command: "sed -i s/loa/Loa/ b.go && git mv b.go a.go", from: []string{"b.go"}, now: "first := Load(1)\nsecond := Load(2)\nmine := store(9)\n", want: "first := Load(1)\nsecond := Load(2)\n"},
		"via a new file":                {command: "{ head -n 1 a.go; cat <<'END'\nx := y(1)\nEND\n} > new.tmp && mv new.tmp a.go", now: "first := load(1)\nx := y(1)\n", want: "first := load(1)\nx := y(1)\n"},
		"not named":                     {command: "sed -i s/x/y/ b.go", now: before + "x\n", unjudged: true},
	} {
		w := &Work{repo: &git.Repo{Root: "."}, parsed: map[string]parsedCommand{}}
		got, judged := w.Explained([]string{c.command}, append(c.from, path), before, c.now)
		if judged == c.unjudged || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, judged, c.want)
		}
	}
}

// TestNames checks that a file which a command only makes to replace another one is not a former name.
func TestNames(t *testing.T) {
	t.Parallel()
	w := &Work{repo: &git.Repo{Root: "."}, parsed: map[string]parsedCommand{}}
	for command, want := range map[string]string{
		"mv b.go a.go":                                     "b.go",
		"git mv -f ./b.go a.go && mv c.go d.go":            "b.go",
		"mv c.go b.go; mv b.go a.go":                       "c.go",
		"{ head -n 1 a.go; } > new.tmp && mv new.tmp a.go": "a.go",
		"mv b.go d.go":                                     "a.go",
	} {
		if got := w.namesIn([]string{command}, "a.go"); got[0] != want || got[len(got)-1] != "a.go" {
			t.Errorf("%q: %q, want the first to be %q", command, got, want)
		}
	}
}
