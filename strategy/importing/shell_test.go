package importing

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShellWrites(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command string
		want    []shellWrite
	}{
		"nothing":         {"ls -l > list", nil},
		"a document":      {"cat > a.txt <<'EOF'\none\ntwo\nEOF\necho done", []shellWrite{{"a.txt", "one\ntwo\n", true}}},
		"appended":        {"cat >> 'b c.txt' <<-END\n\tone\n\tEND", []shellWrite{{"b c.txt", "\tone\n", false}}},
		"tee":             {"tee x/y.go <<EOF\npackage y\nEOF", []shellWrite{{"x/y.go", "package y\n", true}}},
		"two documents":   {"cat > a <<A\n1\nA\ncat > b <<B\n2\nB", []shellWrite{{"a", "1\n", true}, {"b", "2\n", true}}},
		"without an end":  {"cat > a <<A\n1\n", []shellWrite{{"a", "1\n", true}}},
		"no file":         {"{ head -3 f.go; cat <<X\nnew\nX\n} > t.tmp && mv t.tmp f.go", []shellWrite{{"f.go", "new\n", false}, {"t.tmp", "new\n", false}}},
		"echo":            {`echo "a \"b\"" >> f`, []shellWrite{{"f", `a "b"`, false}}},
		"printf":          {`printf '1\n2\n' > f`, []shellWrite{{"f", "1\n2\n", true}}},
		"sed":             {`sed -i 's|old text|new text|' src/f.go`, []shellWrite{{"src/f.go", "new text", false}}},
		"sed of a macOS":  {`sed -i'' -e 's/a/b/' f`, []shellWrite{{"f", "b", false}}},
		"sed that prints": {`sed 's|old|new|' f`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, shellWrites(test.command), cmp.AllowUnexported(shellWrite{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShellMoves(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][][2]string{
		"mv a b":                                 {{"a", "b"}},
		"git mv 'a b' c && mv -f d e":            {{"a b", "c"}, {"d", "e"}},
		"rm a":                                   nil,
		"echo mv a b":                            nil,
		"cd x; mv old.go new.go\nmv p.go q/p.go": {{"old.go", "new.go"}, {"p.go", "q/p.go"}},
	} {
		if diff := cmp.Diff(want, shellMoves(command)); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
}
