package redact_test

import (
	"bytes"
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
// folders of ENTIRE_CODE, separated as in PATH. With ENTIRE_HARM_EXAMPLES=n it shows n replaced
// texts of each rule.
func TestHarm(t *testing.T) {
	t.Parallel()
	folders := filepath.SplitList(os.Getenv("ENTIRE_CODE"))
	if len(folders) == 0 {
		t.Skip("ENTIRE_CODE is not set")
	}
	most, _ := strconv.Atoi(os.Getenv("ENTIRE_HARM_EXAMPLES"))
	r := redact.New()
	for _, folder := range folders {
		lines, changed := 0, 0
		examples := make(map[string][]string)
		hits := make(map[string]int)
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil || len(data) > 16<<20 || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
				return err
			}
			lines += bytes.Count(data, []byte("\n"))
			touched := make(map[int]bool)
			for _, h := range checkFile(r, path, data) {
				hits[h.Rule]++
				first := bytes.Count(data[:h.Start], []byte("\n"))
				for n := range 1 + bytes.Count(data[h.Start:h.End], []byte("\n")) {
					touched[first+n] = true
				}
				begin := bytes.LastIndexByte(data[:h.Start], '\n') + 1
				before := string(data[max(begin, h.Start-60):h.Start])
				examples[h.Rule] = append(examples[h.Rule], path+": "+before+"«"+string(data[h.Start:h.End])+"»")
			}
			changed += len(touched)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range slices.Sorted(maps.Keys(examples)) {
			list := examples[rule]
			step := max(1, len(list)/max(1, most))
			for i := 0; i < len(list) && i/step < most; i += step {
				t.Logf("%s: %.400s", rule, strings.ReplaceAll(list[i], "\n", "⏎"))
			}
		}
		t.Logf("%s: %d of %d lines changed (%.3f %%): %v", folder, changed, lines, 100*float64(changed)/float64(max(1, lines)), hits)
		if changed*1000 > lines {
			t.Errorf("%s: more than 0.1 %% of the lines are changed", folder)
		}
	}
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
