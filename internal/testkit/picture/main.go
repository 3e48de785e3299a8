// Command picture draws a terminal session as an SVG image: docs/day.txt as docs/day.svg, for the
// README. Lines that begin with "$ " are typed commands.
package main

import (
	"errors"
	"fmt"
	"html"
	"os"
	"strings"
)

const (
	fontSize   = 14
	lineHeight = 20
	charWidth  = 8.45 // of a monospaced font of fontSize
	margin     = 20
	titleBar   = 28
)

func main() {
	if len(os.Args) != 3 { //nolint:mnd // the program and two files
		fail(errors.New("usage: picture FILE.txt FILE.svg"))
	}
	text, err := os.ReadFile(os.Args[1]) //nolint:gosec // the file that was named
	if err != nil {
		fail(err)
	}
	if err := os.WriteFile(os.Args[2], []byte(Draw(string(text))), 0o644); err != nil { //nolint:gosec // everybody may read it
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Draw returns an SVG of a terminal with the text.
func Draw(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	widest := 0
	for _, line := range lines {
		widest = max(widest, len([]rune(line)))
	}
	width, height := int(float64(widest)*charWidth)+2*margin, len(lines)*lineHeight+titleBar+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>A turn, a commit, a turn that goes wrong and the command that takes it back</title>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#1d2430"/>`+"\n", width, height)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="16" r="5" fill="%s"/>`+"\n", margin+i*16, colour)
	}
	fmt.Fprintf(&b, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d" xml:space="preserve">`+"\n", fontSize)
	for i, line := range lines {
		if line == "" {
			continue
		}
		colour, weight := "#c5cdd9", "normal"
		if strings.HasPrefix(line, "$ ") {
			colour, weight = "#ffffff", "bold"
		} else if strings.HasPrefix(line, "# ") {
			colour = "#8794a8"
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s" font-weight="%s">%s</text>`+"\n", margin, titleBar+(i+1)*lineHeight-4, colour, weight, html.EscapeString(line))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
