package digest

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Missing is a command that failed because a program or a script was missing.
type Missing struct {
	Command string `json:"command"`
	Said    string `json:"said"` // the line of its output
	At      int    `json:"at"`   // the number of lines of the conversation
}

// environment adds what the result of a command shows about the environment: which checks
// passed, what was missing, where a server listens, and which credentials it used.
func (r *reader) environment(res transcript.ToolResult, call Call, result recall.Outcome) {
	if call.Text == "" {
		return
	}
	if call.Background {
		r.Background = call.Text
	}
	switch checks := call.Checks &^ call.Checks.Git(); {
	case res.Failed:
		r.missed(call, res.Content.Said())
	case result == recall.Passed:
		r.found(call)
		if checks != 0 {
			r.setEnvironment(recall.Fact{By: recall.Output, Text: strings.Join(checks.Names(), ", "), Command: call.Text}, true)
		}
	}
	if !res.Failed {
		if call.Background || servesWords(call.Text) {
			r.serves(res.Content.Said(), call.Text)
		}
		for _, name := range credentials(call.Text) {
			r.setEnvironment(recall.Fact{By: recall.Output, Text: name, Command: call.Text}, true)
		}
	}
}

// setEnvironment adds a fact in place of that with the same text; if shorter, only if its
// command is not longer.
func (r *reader) setEnvironment(f recall.Fact, shorter bool) {
	f.Kind, f.Request, f.At = recall.Environment, r.Asks, r.time()
	i := slices.IndexFunc(r.Facts, func(old Fact) bool { return old.Kind == recall.Environment && old.Text == f.Text })
	if i >= 0 {
		if shorter && len(r.Facts[i].Command) < len(f.Command) {
			return
		}
		r.Facts = slices.Delete(r.Facts, i, i+1)
	}
	r.add(Fact{Fact: f})
}

// missed records that a command failed because a program or a script is missing.
func (r *reader) missed(call Call, output string) {
	const most, longest, lines = 4 << 10, 160, 20
	n := 0
	for text := range strings.SplitSeq(plain.Head(output, most), "\n") {
		if n++; n > lines {
			return
		}
		if containsAny(text, "command not found", "unrecognized subcommand", "unknown command", "No module named", "Script not found", "Missing script", "is not recognized as") {
			r.Missing = Missing{Command: call.Text, Said: plain.Line(text, longest, r.redact), At: r.Lines}
			return
		}
	}
}

// found adds how a missing program was replaced, if a command that passes soon after has most
// words of the one that failed.
func (r *reader) found(call Call) {
	const soon = 12 // lines of the conversation
	if r.Missing.Command == "" {
		return
	}
	if r.Lines-r.Missing.At > soon {
		r.Missing = Missing{}
		return
	}
	if call.Text == r.Missing.Command || overlap(contentWords(call.Text), contentWords(r.Missing.Command)) < similar {
		return
	}
	f := recall.Fact{By: recall.Output, Text: r.Missing.Said, Command: r.Missing.Command, Why: plain.Shorten("passed then: "+call.Text, maxFact)}
	r.Missing = Missing{}
	r.setEnvironment(f, false)
}

// servesWords reports whether a command starts a server, by its words.
func servesWords(command string) bool {
	return slices.ContainsFunc(strings.Fields(command), func(word string) bool {
		return slices.Contains([]string{"dev", "serve", "start", "preview", "runserver", "up"}, word)
	})
}

// serves adds the local ports that the output of a command names.
func (r *reader) serves(output, command string) {
	const most = 8 << 10
	for _, origin := range origins(plain.Head(output, most)) {
		r.setEnvironment(recall.Fact{By: recall.Output, Text: origin, Command: command}, false)
	}
}

// origins returns the URLs of local servers in a text, without path.
func origins(text string) []string {
	var found []string
	for _, host := range []string{"localhost:", "127.0.0.1:"} {
		rest := text
		const mostPorts = 3
		for len(found) < mostPorts {
			_, after, ok := strings.Cut(rest, "://"+host)
			if !ok {
				break
			}
			rest = after
			port := after[:len(after)-len(strings.TrimLeft(after, "0123456789"))]
			const longest = 5
			if origin := "http://" + host + port; port != "" && len(port) <= longest && !slices.Contains(found, origin) {
				found = append(found, origin)
			}
		}
	}
	return found
}

// credentials returns the names of the environment variables with credentials that a command
// uses, and the files from which it takes variables.
func credentials(command string) []string {
	var found []string
	for at := 0; ; {
		next := strings.IndexByte(command[at:], '$')
		if next < 0 {
			break
		}
		at += next + 1
		name := strings.TrimPrefix(command[at:], "{")
		name = name[:len(name)-len(strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"))]
		if isCredential(name) {
			found = append(found, "$"+name)
		}
	}
	words := strings.Fields(command)
	for i, word := range words {
		file := strings.Trim(strings.TrimPrefix(word, "--env-file="), `"'`)
		isSource := i > 0 && (words[i-1] == "source" || words[i-1] == "." || words[i-1] == "--env-file") || file != strings.Trim(word, `"'`)
		if isSource && strings.HasPrefix(file[strings.LastIndexByte(file, '/')+1:], ".env") {
			found = append(found, file)
		}
	}
	return found
}

// isCredential reports whether the name of a variable says that it has a credential.
func isCredential(name string) bool {
	return slices.ContainsFunc([]string{"_TOKEN", "_KEY", "_SECRET", "_PASSWORD", "_CREDENTIALS"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// places adds the local servers that a prompt of the person names, and the sentences that say
// where a credential is.
func (r *reader) places(prompt string) {
	if !containsAny(prompt, "localhost:", "127.0.0.1:", "token", "Token", "key", "secret", "credential", "password") {
		return
	}
	for _, origin := range origins(prompt) {
		r.setEnvironment(recall.Fact{By: recall.Person, Text: origin}, false)
	}
	for line := range strings.SplitSeq(prompt, "\n") {
		for sentence := range sentences(strings.TrimSpace(line)) {
			low := lowered(sentence)
			if !containsAny(low, " token is in ", " token is at ", " key is in ", " key is at ", " secret is in ", " secrets are in ", " credentials are in ", " credentials are at ",
				" password is in ", " keys are in ", " tokens are in ", " token is stored in ", " key is stored in ", " credentials are stored in ") || strings.HasSuffix(sentence, "?") {
				continue
			}
			if text := item(sentence, r.redact); !strings.Contains(text, "REDACTED") {
				r.setEnvironment(recall.Fact{By: recall.Person, Text: text, Files: r.mentioned(text)}, false)
			}
		}
	}
}
