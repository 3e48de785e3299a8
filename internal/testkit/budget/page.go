package main

import (
	"bytes"
	"os"
	"os/exec"
	"time"

	"github.com/creack/pty"
)

// pages returns the commands that read large parts of the record. Their budgets are 3 s for a page
// of 1,000 checkpoints, and half a second for the 20 of a pull request.
func pages() []command {
	return []command{
		{"report --html, 1,000 checkpoints", []string{"report", "--html", "-", "main~1000..main"}, 2300},
		{"report --md, 20 checkpoints", []string{"report", "--md", "-", "main~20..main"}, 380},
		{"check, 1,000 checkpoints", []string{"check", "main~1000..main"}, 2300},
		{"check, 20 checkpoints", []string{"check", "main~20..main"}, 380},
	}
}

// page measures reports, checks and the browser. The first run builds the index and isn't counted.
// The budget of the browser is 100 ms.
func page(b *bench, rows []*row) {
	dir := b.enabled(recordRepo(), "pages")
	b.slim()
	for i, c := range pages() {
		for n := range (b.runs+2)/3 + 1 { // each takes up to several seconds
			v := b.version()
			if s := b.reads(dir, c); n > 0 {
				rows[i].add(s, v)
			}
		}
	}
	for range b.runs {
		v := b.version()
		rows[len(pages())].add(b.firstScreen(dir), v)
	}
	b.Must(os.RemoveAll(dir))
}

// firstScreen measures the browser from its start until its list is on the screen.
func (b *bench) firstScreen(dir string) sample {
	cmd := exec.Command(b.bin, "browse")
	cmd.Dir, cmd.Env = dir, b.env.With("PWD="+dir, "TERM=xterm-256color")
	began := time.Now()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	b.Must(err)
	defer func() { _ = terminal.Close() }()
	var took time.Duration
	shown, piece := []byte{}, make([]byte, 64<<10)
	for err == nil { // reading fails when the program has exited
		var n int
		n, err = terminal.Read(piece)
		if shown = append(shown, piece[:n]...); took == 0 && bytes.Contains(shown, []byte("1 of 2")) {
			took = time.Since(began)
			_, write := terminal.WriteString("q")
			b.Must(write)
		}
	}
	if err := cmd.Wait(); err != nil || took == 0 {
		b.Fatalf("browse: %v\n%q", err, shown)
	}
	return newSample(cmd, took)
}
