// Command recallquality measures what a brief is worth on real sessions: of a
// session that went before, it makes the brief from the transcript alone, and
// looks how much of what the session that came after read and edited is in it,
// and whether anything in it is false. docs/recall-quality.md has its table.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	samples := flag.String("samples", "", "`folder` of the transcripts")
	show := flag.String("show", "", "print the briefs of the pairs whose name has this `text`")
	flag.Parse()
	if *samples == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, *samples, *show); err != nil {
		fmt.Fprintln(os.Stderr, "recallquality:", err)
		os.Exit(1)
	}
}

// run measures all pairs and writes the table; a false statement is an error.
func run(w io.Writer, samples, show string) error {
	list, err := pairs(samples)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("no transcripts in %s", samples)
	}
	var results []result
	for _, p := range list {
		r, err := p.measure()
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		results = append(results, r)
		if show != "" && bytes.Contains([]byte(p.name), []byte(show)) {
			for i, part := range r.brief.Parts {
				fmt.Fprintf(w, "=== %s, part %d\n%s\n", p.name, i+1, part)
			}
		}
	}
	return table(w, results)
}

// pairs are those that the samples are known to have, and long sessions cut in
// two.
func pairs(samples string) ([]pair, error) {
	var list []pair
	for _, known := range [][2]string{
		{"entire/79eb9f8a-232c-4a72-a26b-4b4520ef2152", "entire/28596a79-6247-4bc2-a031-f5848b31e039"},
		{"entire/28596a79-6247-4bc2-a031-f5848b31e039", "entire/5a6312ee-5752-4b7a-9ad2-6c3b1b5f4c8a"},
		{"lab-2.1.328/flow/9340300c-5c3a-4579-93bb-9edea25d332e", "lab-2.1.328/flow/153f0240-7631-4997-ab7e-5aacc34dd4ca"},
		{"lab-2.1.328/clear-compact/ca302d7a-d856-45ce-a119-d6b55ac4ff39", "lab-2.1.328/clear-compact/7858f824-8f40-47ff-8e0c-2dac76d28540"},
		{"lab-2.1.328/plan-clear/3bc875ac-f9aa-4d33-b923-2df96fd6607e", "lab-2.1.328/plan-clear/a2c2d138-2e54-4cf5-8abd-c012c494adc8"},
	} {
		before, err := os.ReadFile(filepath.Join(samples, known[0]+".jsonl"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		after, err := os.ReadFile(filepath.Join(samples, known[1]+".jsonl"))
		if err != nil {
			return nil, err
		}
		kind := "clear"
		if filepath.Base(filepath.Dir(known[0])) == "plan-clear" {
			kind = "plan"
		}
		list = append(list, pair{name: short(known[0]) + " → " + short(known[1]), kind: kind, before: lines(before), after: lines(after)})
	}
	for _, folder := range []string{"entire", "spotter"} {
		names, err := filepath.Glob(filepath.Join(samples, folder, "*.jsonl"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			list = append(list, cut(filepath.Base(name), lines(raw))...)
		}
	}
	return list, nil
}

// short is what a table calls a session.
func short(name string) string {
	base := filepath.Base(name)
	return base[:min(8, len(base))]
}

func lines(raw []byte) [][]byte {
	var list [][]byte
	for line := range bytes.Lines(raw) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			list = append(list, line)
		}
	}
	return list
}
