package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// noResult is the line of the result of a call that has none.
const noResult = -1

// FileState is a file before and after a call of an edit tool.
type FileState struct {
	Write

	// Before and After are nil if the transcript doesn't show them. A file that doesn't exist has
	// no content.
	Before, After *string
}

// Done returns the time of the call's result, zero if unknown.
func (s *FileState) Done() time.Time { return s.doneAt }

// Begun returns the time of the call, zero if unknown.
func (c Write) Begun() time.Time { return c.at }

// States returns the states of a file that matching calls of edit tools changed, in the order of
// the calls' results, nil if that isn't known.
func (w *Writes) States(names []string, matches func(Write) bool) []FileState {
	if !w.isOrdered() {
		return nil
	}
	var states []FileState
	for name := range w.given(names) {
		for _, c := range w.calls {
			if c.Path != name || c.failed || !matches(c) {
				continue
			}
			states = append(states, FileState{Write: c, Before: unixText(c.before), After: unixText(c.after())})
		}
	}
	slices.SortStableFunc(states, func(a, b FileState) int {
		if w.hasSubagents {
			return a.doneAt.Compare(b.doneAt)
		}
		return cmp.Compare(uint(a.done), uint(b.done)) // one without a result is last
	})
	return states
}

// Commands returns the commands of matching calls that can change any file and that may have run
// after one state of a file and before the next one. Nil stands for the beginning and for the end.
// A tool that isn't a shell has no command.
func (w *Writes) Commands(after, before *FileState, matches func(Write) bool) []string {
	var commands []string
	for _, c := range w.shell {
		var late, early bool
		if w.hasSubagents {
			late = before != nil && c.at.After(before.doneAt)
			early = after != nil && c.done >= 0 && c.doneAt.Before(after.doneAt)
		} else {
			late = before != nil && before.done >= 0 && c.Line > before.done
			early = after != nil && c.done >= 0 && c.done < after.done
		}
		if !late && !early && matches(c.Write) {
			commands = append(commands, c.text)
		}
	}
	return commands
}

// unixText returns a content with the line ends of Unix, nil if it isn't text.
func unixText(text *string) *string {
	if text == nil || strings.ContainsRune(*text, '\uFFFD') {
		return nil
	}
	unix := strings.ReplaceAll(*text, "\r\n", "\n")
	return &unix
}

// Ran reports whether the call ran at a time, or shortly before or after.
func (c Write) Ran(at time.Time, slack time.Duration) bool {
	return !c.at.IsZero() && !at.Before(c.at.Add(-slack)) && (c.done < 0 || !at.After(c.doneAt.Add(slack)))
}

// EndedAfter reports whether a matching call had no result at a time.
func (w *Writes) EndedAfter(at time.Time, matches func(Write) bool) bool {
	ends := func(c Write) bool { return (c.done < 0 || !c.doneAt.Before(at)) && matches(c) }
	return slices.ContainsFunc(w.calls, ends) ||
		slices.ContainsFunc(w.shell, func(c shellCommand) bool { return ends(c.Write) })
}

// isOrdered reports whether the order of all calls is known: by their lines if one agent made them,
// else by their times.
func (w *Writes) isOrdered() bool { return !w.hasSubagents || !w.isUntimed }

// after returns the content of the file after the call, nil if unknown.
func (c Write) after() *string {
	if c.done < 0 || c.failed {
		return nil
	}
	if c.Whole && len(c.edits) == 1 {
		return &c.edits[0].New
	}
	if c.before == nil {
		return nil
	}
	text := *c.before
	for _, e := range c.edits {
		switch n := strings.Count(text, e.Old); {
		case e.Old == "" || n == 0, n > 1 && !c.all:
			return nil
		default:
			text = strings.ReplaceAll(text, e.Old, e.New)
		}
	}
	return &text
}
