package agenthook

import (
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/internal/jsonedit"
)

const (
	statusLineKey = "statusLine"
	// statusLineCommand is the command that the agent runs for its status line.
	statusLineCommand = "entire statusline"
)

// ownStatusLineCommand reports whether a command is our status line.
func ownStatusLineCommand(command string) bool {
	words := strings.Fields(command)
	return len(words) >= 2 && (words[0] == "entire" || strings.HasSuffix(words[0], "/entire")) && words[1] == "statusline"
}

// InstallStatusLine configures our status line. An existing one is recorded: ours runs it, and
// RemoveStatusLine restores it.
func (s Settings) InstallStatusLine() (changed bool, err error) {
	return s.file().Put(func(d *jsonedit.Document, rec *jsonedit.Record) ([]string, error) {
		v, there := jsonedit.Member(d.Root(), statusLineKey)
		switch {
		case !there:
			rec.Replaced = nil
			return nil, d.Add(d.Root(), statusLineKey, `{"type":"command","command":`+jsonedit.Quote(statusLineCommand)+`}`)
		case settingsDocument{d}.ownStatusLine():
			return nil, nil
		}
		rec.Replaced = append([]byte{}, d.Source(v)...)
		if command, ok := statusCommand(v); ok {
			return nil, d.ReplaceString(command, statusLineCommand)
		}
		return nil, d.Replace(v, `{"type":"command","command":`+jsonedit.Quote(statusLineCommand)+`}`)
	})
}

// RemoveStatusLine restores the status line that ours replaced.
func (s Settings) RemoveStatusLine() (changed bool, err error) {
	return s.file().TakeSome(func(d *jsonedit.Document, rec jsonedit.Record, _ func(string) bool) error {
		return settingsDocument{d}.removeStatusLine(rec)
	})
}

// StatusLine returns the command of the file's status line, and whether it is ours. former is the
// command that ours replaced. Both are empty if there is none.
func (s Settings) StatusLine() (command, former string, ours bool, err error) {
	d, err := s.file().Read()
	if err != nil {
		return "", "", false, err
	}
	v, _ := jsonedit.Member(d.Root(), statusLineKey)
	if c, ok := statusCommand(v); ok {
		command = jsonedit.StringOf(c)
	}
	if !ownStatusLineCommand(command) {
		return command, "", false, nil
	}
	rec, _, err := s.file().Record()
	if err != nil || len(rec.Replaced) == 0 {
		return command, "", true, err
	}
	if v, err := hujson.Parse(rec.Replaced); err == nil {
		c, _ := statusCommand(v)
		former = jsonedit.StringOf(c)
	}
	return command, former, true, nil
}

// statusCommand returns the command in a value of statusLine.
func statusCommand(v hujson.Value) (hujson.Value, bool) {
	kind, _ := jsonedit.Member(v, "type")
	command, ok := jsonedit.Member(v, "command")
	return command, ok && jsonedit.StringOf(kind) == "command" && jsonedit.StringOf(command) != ""
}

func (d settingsDocument) ownStatusLine() bool {
	v, _ := jsonedit.Member(d.Root(), statusLineKey)
	command, _ := statusCommand(v)
	return ownStatusLineCommand(jsonedit.StringOf(command))
}

// removeStatusLine restores the value that ours replaced: only the command, if we replaced nothing
// else.
func (d settingsDocument) removeStatusLine(rec jsonedit.Record) error {
	if !d.ownStatusLine() {
		return nil
	}
	v, _ := jsonedit.Member(d.Root(), statusLineKey)
	if len(rec.Replaced) == 0 {
		return d.RemoveValue(d.Root(), v)
	}
	text := string(rec.Replaced)
	former, err := hujson.Parse(rec.Replaced)
	if err != nil {
		return d.RemoveValue(d.Root(), v)
	}
	if command, ok := statusCommand(former); ok {
		own, _ := statusCommand(v)
		return d.Replace(own, string(rec.Replaced[command.StartOffset:command.EndOffset]))
	}
	return d.Replace(v, text)
}
