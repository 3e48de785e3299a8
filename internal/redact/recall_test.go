package redact_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/testkit/secretkinds"
)

// The values that one process knows are found by the next one, in all encodings that it decodes.
func TestKnownValuesAreRecalled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	m := secretkinds.New(4, 4)
	inFile, found := m.Of(lowers, 6)+m.Of(digits, 4), m.Of(alnums, 14)
	writeFiles(t, root, map[string]string{".env": "SOME_PASSWORD=" + inFile + "\n"})
	first := redact.New().WithFilesOf(root).WithMemory()
	list := first.Known(nil)
	first.Text("password = \"" + found + "\"\n")
	both := first.Known(list)
	if !bytes.HasPrefix(both, list) || len(both) == len(list) {
		t.Fatalf("%d bytes, then %d", len(list), len(both))
	}
	if again := first.Known(both); !bytes.Equal(again, both) {
		t.Error("the list has a value twice")
	}
	second := redact.New().WithMemory()
	second.Recall(list)
	if got := second.Text("it is " + found + " there"); !strings.Contains(got, found) {
		t.Error("the value is found in any case")
	}
	second.Recall(both)
	for _, v := range []string{inFile, found} {
		if bytes.Contains(both, []byte(v)) {
			t.Error("the list has the value")
		}
		for _, f := range secretkinds.Forms() {
			text := "take \"" + v + "\" there, and go on with it"
			if f.Inside {
				text = strings.Replace(text, v, f.Encode(v), 1)
			} else {
				text = f.Encode(text)
			}
			if got := second.Text("see:\n" + text + "\nand more\n"); !strings.Contains(got, redact.Mark) {
				t.Errorf("%s: %s", f.Name, got)
			}
		}
	}
	if got := second.Known(both); !bytes.Equal(got, both) {
		t.Error("a recalled value is new")
	}
}
