package attribution_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// TestFormattersKeepAuthors checks files before and after a formatter. Their statements are by an
// agent and a person in turn, each with the name of its author in every line that the formatter
// may make of it. The folder names the formatter; its output was recorded.
func TestFormattersKeepAuthors(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(filepath.Join("testdata", "formatters"))
	if err != nil || len(folders) < 12 {
		t.Fatal(folders, err)
	}
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			t.Parallel()
			read := func(name string) string {
				found, err := filepath.Glob(filepath.Join("testdata", "formatters", folder.Name(), name+".*.txt"))
				if err != nil || len(found) != 1 {
					t.Fatal(found, err)
				}
				content, err := os.ReadFile(found[0])
				if err != nil {
					t.Fatal(err)
				}
				return string(content)
			}
			before, after := read("before"), read("after")
			var agents strings.Builder // the agent's statements
			by := attribution.Person
			for line := range strings.Lines(before) {
				if name, named := namedAuthor(line); named {
					by = name
				}
				if by == agent {
					agents.WriteString(line)
				}
			}
			written := []attribution.State{{By: agent, Content: []byte(agents.String())}, {By: attribution.Person, Content: []byte(before)}}
			all := []git.Hunk{{New: 1, NewLines: strings.Count(after, "\n")}}
			for position, file := range map[string]attribution.File{
				"by a hook or a person": {States: written, By: attribution.Person},
				"by the agent":          {States: append(written[:2:2], attribution.State{By: agent, Content: []byte(after)})},
				"by another agent":      {States: append(written[:2:2], attribution.State{By: "other", Content: []byte(after)})},
			} {
				file.Final, file.Hunks = []byte(after), all
				lines := strings.SplitAfter(after, "\n")
				for _, l := range file.Attribute().Added {
					if want, named := namedAuthor(lines[l.Number]); named && (l.By != want || l.Unsure) {
						t.Errorf("%s: line %d is by %q (%v): %s", position, l.Number+1, l.By, l.Origin, lines[l.Number])
					}
				}
			}
			// In a commit that formats what the parent has, no line is its author's.
			lines := strings.SplitAfter(after, "\n")
			file := attribution.File{Base: []byte(before), Final: []byte(after), By: agent, Hunks: all}
			file.Hunks = []git.Hunk{{Old: 1, OldLines: strings.Count(before, "\n"), New: 1, NewLines: strings.Count(after, "\n")}}
			for _, l := range file.Attribute().Added {
				if _, named := namedAuthor(lines[l.Number]); named && !l.Unsure && !strings.Contains(before, lines[l.Number]) {
					t.Errorf("in a later commit: line %d: %s", l.Number+1, lines[l.Number])
				}
			}
		})
	}
}

// namedAuthor returns the author that a line names first.
func namedAuthor(line string) (attribution.Author, bool) {
	line = strings.ToLower(line)
	a, p := strings.Index(line, "agent"), strings.Index(line, "person")
	switch {
	case a < 0 && p < 0:
		return "", false
	case p < 0 || a >= 0 && a < p:
		return agent, true
	}
	return attribution.Person, true
}
