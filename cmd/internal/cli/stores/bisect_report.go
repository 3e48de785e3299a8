package stores

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// culprit is the change from good to bad.
type culprit struct {
	diff.BisectOutcome

	good, bad bands.Snapshot
	turn      *turnJSON // nil if no turn made the change
	files     []diff.File
	look      []string // commands that show more
	back      string
}

// report prints the result. If results differed between runs, it fails.
func (c *command) report(ctx context.Context, o *opened, state *diff.BisectState, found diff.BisectOutcome) (err error) {
	at := &culprit{BisectOutcome: found}
	if at.good, err = o.Snapshot(found.Good); err == nil {
		at.bad, err = o.Snapshot(found.Bad)
	}
	if err != nil {
		return err
	}
	versions := []bands.Version{found.Good, found.Bad}
	var only []string // of a volume: the paths that differ
	if o.IsVolume() {
		if only, err = ChangedInVolume(ctx, o.Selection, versions); err != nil {
			return err
		}
	}
	sides, err := OpenSides(ctx, o.Selection, versions, only)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sides.Close()) }()
	if at.files, err = diff.Stat(ctx, sides.Old, sides.Now, diff.Options{}); err != nil {
		return err
	}
	at.turn = c.turnOf(ctx, at)
	show := c.call(fmt.Sprintf("diff %s %s", found.Good, found.Bad))
	if len(at.files) > 0 {
		show += " -- " + ShellWord(at.files[0].Path)
	}
	at.look = []string{show}
	at.back = c.call("restore " + found.Good.String())
	if c.records {
		at.back = "entire rewind " + found.Good.String() + " --preview"
		at.look = append(at.look, "entire fork "+found.Bad.String())
		if at.turn != nil && at.turn.Session != "" {
			at.look = append(at.look, "entire show "+ShellWord(at.turn.Session))
		}
	}
	if c.JSON {
		err = c.PrintJSON(foundJSON{
			Good: found.Good.String(), Bad: found.Bad.String(), Skipped: names(found.Skipped), Unsteady: names(found.Unsteady),
			Snapshot: format.NewCheckpointJSON(at.bad), Turn: at.turn, Changed: format.NewDiffJSON(at.files), Look: at.look, Back: at.back, Runs: newRunsJSON(state.Runs),
		})
	} else {
		err = c.show(ctx, at, sides)
	}
	if err == nil && len(found.Unsteady) > 0 {
		for _, v := range found.Unsteady {
			c.Streams.Notef("%s had different results in two runs: the command depends on more than the files, and the result may be wrong.", v)
		}
		return app.ErrFailed
	}
	return err
}

// mostLines is the maximum number of lines of a diff that is printed.
const mostLines = 60

// show prints the result as text.
func (c *command) show(ctx context.Context, at *culprit, sides *Sides) error {
	s := c.Streams
	s.Printf("%s is the first bad snapshot, %s the last good one.\n", s.Paint(ui.Bold, at.Bad.String()), at.Good)
	if n := len(at.Skipped); n > 0 {
		s.Printf("It may also be one of the %d between them, which were skipped: %s\n", n, strings.Join(names(at.Skipped), ", "))
	}
	s.Printf("\n")
	fact := func(name, text string) {
		if text != "" {
			s.Printf("%s %s\n", s.Paint(ui.Bold, fmt.Sprintf("%-9s", name)), text)
		}
	}
	by := at.bad.Causality
	cause := "in the snapshot" + format.Quoted(at.bad.Message)
	switch {
	case at.turn != nil && by.Action != "":
		cause = "by a tool call: " + ui.Line(by.Action, format.NameWidth)
	case at.turn != nil:
		cause = "in an agent's turn"
	case at.bad.Cause == bands.Prompt:
		cause = "between turns, before the prompt" + format.Quoted(by.Prompt)
	case at.bad.Cause == bands.Commit:
		cause = "in the commit " + fmt.Sprintf("%.7s", by.Commit)
	case at.bad.Cause == bands.Rescue:
		cause = "before a restore"
	}
	fact("When:", ui.Ago(c.Now(), at.bad.Created)+", "+cause)
	if t := at.turn; t != nil {
		fact("Session:", strings.TrimSpace(ui.Line(t.Session, format.LineWidth)+" "+ui.Line(t.Agent, format.NameWidth)))
		fact("Prompt:", ui.Line(t.Prompt, format.LineWidth))
		for i, call := range t.Calls {
			if i == mostCalls {
				fact("", fmt.Sprintf("... %d more", len(t.Calls)-i))
				break
			}
			fact(map[bool]string{true: "Calls:"}[i == 0], ui.Line(call.Tool+": "+call.Text, format.LineWidth))
		}
	}
	s.Printf("\n")
	format.Diff(s, at.files)
	var text bytes.Buffer
	if _, err := diff.Unified(ctx, &text, sides.Old, sides.Now, diff.Options{}); err != nil {
		return err
	}
	if n := bytes.Count(text.Bytes(), []byte("\n")); n > 0 && n <= mostLines {
		s.Printf("\n")
		if err := s.ShowDiff(func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err }); err != nil {
			return err
		}
	}
	s.Printf("\n")
	for i, look := range at.look {
		fact(map[bool]string{true: "Look:"}[i == 0], look)
	}
	fact("Go back:", at.back)
	return nil
}

// mostCalls is the maximum number of calls of a turn that are listed.
const mostCalls = 6

// turnOf returns the turn during or at the end of which the first bad snapshot was taken, nil if it
// was taken for another reason. It lists the turn's calls that name a changed file, and its
// commands.
func (c *command) turnOf(ctx context.Context, at *culprit) *turnJSON {
	by := at.bad.Causality
	if at.bad.Cause == bands.Prompt || by.Session == "" && by.Prompt == "" && by.Action == "" {
		return nil
	}
	t := &turnJSON{Session: by.Session, Agent: by.Agent, Prompt: by.Prompt, Calls: []callJSON{}}
	if by.Action != "" {
		t.Calls = append(t.Calls, callJSON{Tool: by.Action})
	}
	if !c.records {
		return t
	}
	if err := c.fromIndex(ctx, at, t); err != nil {
		c.Streams.Notef("Can't read the turn's tool calls: %v", err)
	}
	return t
}

// fromIndex completes a turn from the index.
func (c *command) fromIndex(ctx context.Context, at *culprit, t *turnJSON) (err error) {
	repo, err := c.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	r, err := c.OpenIndex(ctx, repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	row, found, err := r.TurnOf(ctx, int(at.Bad))
	if err != nil || !found {
		return err
	}
	t.Session, t.Agent, t.Prompt = row.Session, row.Agent, row.Prompt
	if !row.At.IsZero() {
		at := format.UTC(row.At)
		t.At = &at
	}
	calls, err := r.Calls(ctx, row.ID, true)
	var named []callJSON // these name a changed file and come first
	for _, call := range calls {
		one := callJSON{Tool: call.Tool, Text: call.Text}
		if slices.ContainsFunc(at.files, func(f diff.File) bool { return strings.Contains(call.Text, path.Base(f.Path)) }) {
			named = append(named, one)
		} else if call.Command {
			t.Calls = append(t.Calls, one)
		}
	}
	t.Calls = slices.Insert(t.Calls, 0, named...)
	return err
}
