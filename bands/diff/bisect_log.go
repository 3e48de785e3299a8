package diff

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
)

// bisectLogHead is the first line of a log.
const bisectLogHead = "# bisect log 1"

// Log writes the search in the format that [ReadBisectLog] reads.
func (s *BisectState) Log(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, bisectLogHead)
	for _, list := range []struct {
		name  string
		words []string
	}{{"command", s.Command}, {"paths", s.Paths}} {
		text, err := json.Marshal(list.words)
		if err != nil {
			return err
		}
		if len(list.words) > 0 {
			fmt.Fprintf(out, "%s %s\n", list.name, text)
		}
	}
	fmt.Fprintf(out, "keep %t\nrepeat %t\nsnapshots", s.Keep, s.Repeat)
	for _, v := range s.Versions {
		fmt.Fprintf(out, " %s", v)
	}
	fmt.Fprintln(out)
	for _, r := range s.Runs {
		fmt.Fprintf(out, "%s %s %d\n", r.Result, r.Version, r.Exit)
	}
	return out.Flush()
}

// BisectLogError is an invalid line of a log.
type BisectLogError struct {
	Line int
	Text string
}

// Error describes the line.
func (e *BisectLogError) Error() string {
	return fmt.Sprintf("line %d: not a line of a bisect log: %s", e.Line, e.Text)
}

// ReadBisectLog parses the search of a log, from which lines may have been removed. Empty lines and
// lines that begin with # are ignored.
func ReadBisectLog(r io.Reader) (*BisectState, error) {
	s := &BisectState{Repeat: true}
	lines := bufio.NewScanner(r)
	const longest = 16 << 20
	lines.Buffer(nil, longest)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		if err := s.readLine(text); err != nil {
			const shown = 80
			return nil, &BisectLogError{Line: n, Text: text[:min(len(text), shown)]}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read bisect log: %w", err)
	}
	if len(s.Versions) < 2 { //nolint:mnd // the two ends
		return nil, errors.New("the log has no \"snapshots\" line")
	}
	return s, nil
}

var errLogLine = errors.New("unknown line")

// readLine parses one line of a log.
func (s *BisectState) readLine(text string) (err error) {
	name, rest, _ := strings.Cut(text, " ")
	switch name {
	case "command":
		return json.Unmarshal([]byte(rest), &s.Command)
	case "paths":
		return json.Unmarshal([]byte(rest), &s.Paths)
	case "keep":
		s.Keep, err = strconv.ParseBool(rest)
	case "repeat":
		s.Repeat, err = strconv.ParseBool(rest)
	case "snapshots":
		for word := range strings.FieldsSeq(rest) {
			v, err := bands.ParseVersion(word)
			if err != nil || len(s.Versions) > 0 && v <= s.Versions[len(s.Versions)-1] {
				return errLogLine
			}
			s.Versions = append(s.Versions, v)
		}
	case string(BisectGood), string(BisectBad), string(BisectSkip):
		r := BisectRun{Result: BisectResult(name), Exit: -1}
		words := strings.Fields(rest)
		if len(words) == 0 {
			return errLogLine
		}
		if r.Version, err = bands.ParseVersion(words[0]); err != nil {
			return err
		}
		if len(words) > 1 {
			r.Exit, err = strconv.Atoi(words[1])
		}
		s.Runs = append(s.Runs, r)
	default:
		return errLogLine
	}
	return err
}
