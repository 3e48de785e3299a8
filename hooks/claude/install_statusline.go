package claude

import (
	"strings"

	"github.com/tailscale/hujson"
)

const (
	statusLineKey = "statusLine"
	// statusLineCommand is what the agent runs for its status line.
	statusLineCommand = "entire statusline"
)

// ownStatusLineCommand reports whether a command is our status line.
func ownStatusLineCommand(command string) bool {
	words := strings.Fields(command)
	return len(words) >= 2 && (words[0] == "entire" || strings.HasSuffix(words[0], "/entire")) && words[1] == "statusline"
}

// InstallStatusLine configures our status line. What is there instead is
// kept: ours runs it, and RemoveStatusLine puts it back.
func (s Settings) InstallStatusLine() (changed bool, err error) {
	return s.file().put(func(d *document, rec *record) ([]string, error) {
		v, there := member(d.root, statusLineKey)
		switch {
		case !there:
			rec.StatusLine = nil
			return nil, d.add(d.root, statusLineKey, `{"type":"command","command":`+quote(statusLineCommand)+`}`)
		case settingsDocument{d}.ownStatusLine():
			return nil, nil
		}
		rec.StatusLine = append([]byte{}, d.text[v.StartOffset:v.EndOffset]...)
		if command, ok := statusCommand(v); ok {
			return nil, d.replaceString(command, statusLineCommand)
		}
		return nil, d.apply(replacement{v.StartOffset, v.EndOffset, `{"type":"command","command":` + quote(statusLineCommand) + `}`})
	})
}

// RemoveStatusLine puts back what was there before ours.
func (s Settings) RemoveStatusLine() (changed bool, err error) {
	return s.file().takeSome(func(d *document, rec record, _ func(string) bool) error {
		return settingsDocument{d}.removeStatusLine(rec)
	})
}

// StatusLine returns the command of the file's status line, and whether that is
// ours. former is the one that ours took the place of; both are empty where there
// is none.
func (s Settings) StatusLine() (command, former string, ours bool, err error) {
	d, err := s.file().read()
	if err != nil {
		return "", "", false, err
	}
	v, _ := member(d.root, statusLineKey)
	if c, ok := statusCommand(v); ok {
		command = stringOf(c)
	}
	if !ownStatusLineCommand(command) {
		return command, "", false, nil
	}
	rec, _, err := s.file().readRecord()
	if err != nil || len(rec.StatusLine) == 0 {
		return command, "", true, err
	}
	if v, err := hujson.Parse(rec.StatusLine); err == nil {
		c, _ := statusCommand(v)
		former = stringOf(c)
	}
	return command, former, true, nil
}

// statusCommand is the command in a value of statusLine.
func statusCommand(v hujson.Value) (hujson.Value, bool) {
	kind, _ := member(v, "type")
	command, ok := member(v, "command")
	return command, ok && stringOf(kind) == "command" && stringOf(command) != ""
}

func (d settingsDocument) ownStatusLine() bool {
	v, _ := member(d.root, statusLineKey)
	command, _ := statusCommand(v)
	return ownStatusLineCommand(stringOf(command))
}

// removeStatusLine puts the value back that ours replaced: only the command,
// where that is all that we replaced.
func (d settingsDocument) removeStatusLine(rec record) error {
	if !d.ownStatusLine() {
		return nil
	}
	v, _ := member(d.root, statusLineKey)
	if len(rec.StatusLine) == 0 {
		return d.removeValue(d.root, v)
	}
	text := string(rec.StatusLine)
	former, err := hujson.Parse(rec.StatusLine)
	if err != nil {
		return d.removeValue(d.root, v)
	}
	if command, ok := statusCommand(former); ok {
		own, _ := statusCommand(v)
		return d.apply(replacement{own.StartOffset, own.EndOffset, string(rec.StatusLine[command.StartOffset:command.EndOffset])})
	}
	return d.apply(replacement{v.StartOffset, v.EndOffset, text})
}
