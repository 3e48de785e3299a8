package main

import (
	"os"
)

// pages are the commands that read much of the record at once. Their budgets are 3 s for a
// page of 1,000 checkpoints, and half a second for what a pull request needs.
func pages() []command {
	return []command{
		{"report --html, 1,000 checkpoints", []string{"report", "--html", "-", "main~1000..main"}, 2300},
		{"report --md, 20 checkpoints", []string{"report", "--md", "-", "main~20..main"}, 380},
		{"check, 1,000 checkpoints", []string{"check", "main~1000..main"}, 2300},
		{"check, 20 checkpoints", []string{"check", "main~20..main"}, 380},
	}
}

func pageRows() []*row {
	rows := make([]*row, 0, len(pages()))
	for _, c := range pages() {
		rows = append(rows, &row{Name: c.name + " of 2,000", Unit: perVersion, Budget: c.budget, Command: true})
	}
	return rows
}

// page measures reports and checks; the first run makes the index, and doesn't count.
func page(b *bench, rows []*row) {
	dir := b.enabled(recordRepo(), "pages")
	b.slim()
	for i, c := range pages() {
		for n := range (b.runs+2)/3 + 1 { // each takes up to seconds
			v := b.version()
			if s := b.reads(dir, c); n > 0 {
				rows[i].add(s, v)
			}
		}
	}
	b.Must(os.RemoveAll(dir))
}
