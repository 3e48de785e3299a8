// Command picture draws a recorded terminal session as an animated SVG image: docs/day.txt as
// docs/day.svg, for the README. It has no script and no font of its own, so that it is shown as an
// image, too; where motion is unwanted it is the last scene.
//
// A line of the session that begins with "# " begins a scene, whose title it is. "$ " is a typed
// command, "> " a prompt that a person types to the agent, "* " the agent's answer; all else is output.
package main

import (
	"errors"
	"fmt"
	"html"
	"os"
	"strings"
	"unicode/utf8"
)

// The size of the terminal, in its own units.
const (
	columns, rows         = 84, 25
	fontSize              = 14
	lineHeight, charWidth = 20, 8.4
	margin, titleBar      = 18, 44
)

// The pace, in seconds.
const (
	perKey    = 0.04
	afterKeys = 0.5  // the program or the agent works
	perLine   = 0.38 // of output, to read it
	atLeast   = 1.2
	atEnd     = 2.5 // of a scene
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

// scene is a part of the session that is shown at once.
type scene struct {
	title    string
	steps    []step
	from, to float64
}

// step is a typed line, or some that appear at once.
type step struct {
	class string
	lines []string
	at    float64
}

// isTyped reports whether a person types it.
func (s *step) isTyped() bool { return s.class == "cmd" || s.class == "ask" }

// read returns the scenes of a session, with their times, and the time of the end.
func read(text string) (scenes []scene, end float64) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if title, is := strings.CutPrefix(line, "# "); is {
			scenes = append(scenes, scene{title: title})
			continue
		}
		now := &scenes[len(scenes)-1]
		class := "out"
		for prefix, name := range map[string]string{"$ ": "cmd", "> ": "ask", "* ": "say"} {
			if rest, is := strings.CutPrefix(line, prefix); is {
				class, line = name, map[string]string{"cmd": "$ ", "ask": "> ", "say": "\u25cf "}[name]+rest
			}
		}
		lines := wrap(line)
		if n := len(now.steps); n > 0 && class == "out" && now.steps[n-1].class == class {
			now.steps[n-1].lines = append(now.steps[n-1].lines, lines...)
			continue
		}
		now.steps = append(now.steps, step{class: class, lines: lines})
	}
	for i := range scenes {
		s := &scenes[i]
		s.from = end
		end += 0.4
		for n := range s.steps {
			s.steps[n].at = end
			if s.steps[n].isTyped() {
				end += perKey*float64(utf8.RuneCountInString(s.steps[n].lines[0])) + afterKeys
			} else {
				end += max(perLine*float64(len(s.steps[n].lines)), atLeast)
			}
		}
		end += atEnd
		s.to = end
	}
	return scenes, end
}

// wrap breaks a line at words into lines that fit into the terminal.
func wrap(line string) (lines []string) {
	for utf8.RuneCountInString(line) > columns {
		letters := []rune(line)
		at := strings.LastIndex(string(letters[:columns+1]), " ")
		if at <= 0 {
			at = len(string(letters[:columns]))
		}
		lines = append(lines, line[:at])
		line = strings.TrimPrefix(line[at:], " ")
	}
	return append(lines, line)
}

const style = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#c5cdd9;white-space:pre}
.title{font:600 15px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#fff}
.cmd{fill:#fff;font-weight:bold}.ask{fill:#9ecbff;font-weight:bold}.say{fill:#b9e3b1}.mark{fill:#ffd479;font-weight:bold}.on{fill:#6ea8fe}.off{fill:#46505f}
.s{visibility:hidden}.s.last{visibility:visible}.cover{display:none}
@media (prefers-reduced-motion:no-preference){.s,.s.last{visibility:hidden}.cover{display:inline}
`

// Draw returns the SVG of a session.
func Draw(text string) string {
	scenes, end := read(text)
	const width, height = columns*charWidth + 2*margin, titleBar + rows*lineHeight + margin
	var b, frames strings.Builder
	names := 0
	// shown returns a style that shows an element between two times.
	shown := func(from, to float64) string {
		names++
		fmt.Fprintf(&frames, "@keyframes k%d{0%%,%.2f%%{visibility:hidden}%.2f%%,%.2f%%{visibility:visible}%.2f%%,100%%{visibility:hidden}}#k%d{animation:k%d %.1fs step-end infinite}\n",
			names, max(from/end*100-0.01, 0), from/end*100, to/end*100-0.01, min(to/end*100, 100), names, names, end)
		return fmt.Sprintf(`id="k%d"`, names)
	}
	for i := range scenes {
		s := &scenes[i]
		last := ""
		if i == len(scenes)-1 {
			last = " last"
		}
		fmt.Fprintf(&b, "<g %s class=\"s%s\">\n<text class=\"title\" x=\"%d\" y=\"28\">%s</text>\n", shown(s.from, s.to), last, margin, html.EscapeString(s.title))
		for n := range scenes {
			class := "off"
			if n <= i {
				class = "on"
			}
			fmt.Fprintf(&b, `<rect class="%s" x="%.0f" y="20" width="16" height="4" rx="2"/>`, class, width-margin-float64(20*(len(scenes)-n)-4)) //nolint:mnd // beside one another
		}
		b.WriteString("\n")
		row := 0
		for n := range s.steps {
			step := &s.steps[n]
			fmt.Fprintf(&b, "<g %s class=\"s%s\">\n", shown(step.at, s.to), last)
			for _, line := range step.lines {
				y := titleBar + (row+1)*lineHeight - 5
				row++
				if strings.TrimSpace(line) == "" {
					continue
				}
				class := step.class
				if class == "out" && strings.HasPrefix(line, "Entire-Checkpoint: ") {
					class = "mark"
				}
				fmt.Fprintf(&b, "<text class=\"%s\" x=\"%d\" y=\"%d\" textLength=\"%.1f\">%s</text>\n", class, margin, y, float64(utf8.RuneCountInString(line))*charWidth, html.EscapeString(line))
				if step.isTyped() {
					cover(&b, &frames, &names, line, y, step.at, end)
				}
			}
			b.WriteString("</g>\n")
		}
		b.WriteString("</g>\n")
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %d\" width=\"%.0f\" height=\"%d\" role=\"img\" aria-labelledby=\"t d\">\n", width, height, width, height) +
		"<title id=\"t\">A day with entire</title>\n<desc id=\"d\">" + html.EscapeString(describe(scenes)) + "</desc>\n" +
		"<style>" + style + frames.String() + "}</style>\n" +
		fmt.Sprintf("<rect x=\"0.5\" y=\"0.5\" width=\"%.0f\" height=\"%d\" rx=\"9\" fill=\"#161b24\" stroke=\"#46505f\"/>\n", width-1, height-1) +
		b.String() + "</svg>\n"
}

// cover draws what hides the rest of a typed line, with a cursor at its left.
func cover(b, frames *strings.Builder, names *int, line string, y int, at, end float64) {
	const prompt = 2 // characters that aren't typed
	keys := utf8.RuneCountInString(line) - prompt
	to := at + perKey*float64(keys)
	*names++
	fmt.Fprintf(frames, "@keyframes k%d{0%%,%.2f%%{transform:none;animation-timing-function:steps(%d)}%.2f%%{transform:translateX(%.1fpx);opacity:1;animation-timing-function:step-end}%.2f%%,100%%{transform:translateX(%.1fpx);opacity:0}}#k%d{animation:k%d %.1fs infinite}\n",
		*names, at/end*100, keys, to/end*100, float64(keys)*charWidth, (to+afterKeys/2)/end*100, float64(keys)*charWidth, *names, *names, end)
	x := margin + prompt*charWidth
	fmt.Fprintf(b, "<g id=\"k%d\" class=\"cover\"><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#161b24\"/><rect x=\"%.1f\" y=\"%d\" width=\"8\" height=\"17\" fill=\"#c5cdd9\"/></g>\n",
		*names, x, y-fontSize, float64(keys)*charWidth+2, lineHeight, x, y-fontSize+1)
}

// describe returns the session in words.
func describe(scenes []scene) string {
	var b strings.Builder
	for _, s := range scenes {
		b.WriteString(s.title)
		if !strings.HasSuffix(s.title, "?") {
			b.WriteString(".")
		}
		b.WriteString("\n")
		for _, step := range s.steps {
			b.WriteString(strings.Join(step.lines, "\n") + "\n")
		}
	}
	return b.String()
}
