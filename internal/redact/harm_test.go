package redact_test

import (
	"bytes"
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/redact"
)

// TestHarm measures how many lines of real code redaction changes: of the text files below the
// folders of ENTIRE_CODE, separated as in PATH. With ENTIRE_HARM_EXAMPLES=n it shows the n texts
// that are replaced most often, each with its rule, number and first place.
func TestHarm(t *testing.T) {
	t.Parallel()
	folders := filepath.SplitList(os.Getenv("ENTIRE_CODE"))
	if len(folders) == 0 {
		t.Skip("ENTIRE_CODE is not set")
	}
	most, _ := strconv.Atoi(os.Getenv("ENTIRE_HARM_EXAMPLES"))
	r := redact.New()
	for _, folder := range folders {
		size, lines, changed := 0, 0, 0
		changes := make(map[change]*occurrences)
		hits := make(map[string]int)
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil || len(data) > 16<<20 || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
				return err
			}
			size += len(data)
			lines += bytes.Count(data, []byte("\n"))
			touched := make(map[int]bool)
			for _, h := range checkFile(r, path, data) {
				hits[h.Rule]++
				first := bytes.Count(data[:h.Start], []byte("\n"))
				for n := range 1 + bytes.Count(data[h.Start:h.End], []byte("\n")) {
					touched[first+n] = true
				}
				c := change{h.Rule, string(data[h.Start:h.End])}
				if changes[c] == nil {
					begin := max(bytes.LastIndexByte(data[:h.Start], '\n')+1, h.Start-60)
					changes[c] = &occurrences{place: path + ": " + string(data[begin:h.Start])}
				}
				changes[c].count++
			}
			changed += len(touched)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range mostFrequent(changes) {
			if i == most {
				break
			}
			t.Logf("%d %s: %.400s", changes[c].count, c.rule, strings.ReplaceAll(changes[c].place+"«"+c.text+"»", "\n", "⏎"))
		}
		t.Logf("%s: %.1f MB, %d of %d lines changed (%.3f %%), %d texts: %v",
			folder, float64(size)/1e6, changed, lines, 100*float64(changed)/float64(max(1, lines)), len(changes), hits)
		if changed*1000 > lines {
			t.Errorf("%s: more than 0.1 %% of the lines are changed", folder)
		}
	}
}

// change is a text that a rule replaces.
type change struct{ rule, text string }

type occurrences struct {
	count int
	place string // the file and the beginning of the line of the first
}

func mostFrequent(changes map[change]*occurrences) []change {
	return slices.SortedFunc(maps.Keys(changes), func(x, y change) int {
		return cmp.Or(cmp.Compare(changes[y].count, changes[x].count), cmp.Compare(x.rule, y.rule), cmp.Compare(x.text, y.text))
	})
}

// checkFile lists what redaction replaces in a file: in a transcript line by line.
func checkFile(r *redact.Redactor, path string, data []byte) []redact.Hit {
	if filepath.Ext(path) != ".jsonl" {
		return r.CheckText(string(data))
	}
	var hits []redact.Hit
	at := 0
	for line := range bytes.Lines(data) {
		for _, h := range r.CheckLine(bytes.TrimRight(line, "\r\n")) {
			hits = append(hits, redact.Hit{Rule: h.Rule, Start: at + h.Start, End: at + h.End})
		}
		at += len(line)
	}
	return hits
}
