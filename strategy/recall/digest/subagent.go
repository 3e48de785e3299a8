package digest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// delegated adds the files that a subagent used: those of its transcript, else those that its
// report names.
func (r *reader) delegated(id, report string) {
	if r.subagent(id) {
		return
	}
	const mostFiles = 16
	n := 0
	for _, path := range r.reported(report) {
		if n++; n <= mostFiles && !ownFile(path) {
			r.use(Use{Path: path, Reads: 1, Subagents: 1})
		}
	}
}

// subagent adds the files that a subagent used according to its transcript, and reports
// whether there is one.
func (r *reader) subagent(id string) bool {
	if id == "" {
		return false
	}
	sub := reader{Digest: &Digest{Cwd: r.Cwd}, redact: r.redact, events: transcript.Events{Subagents: true}}
	found := r.linesOf(id, func(raw []byte) {
		if f, ok := r.redact.(plain.Forgetter); ok {
			raw = f.Forget(raw)
		}
		if e, ok := sub.events.Line(raw); ok {
			sub.sidechain(e)
		}
	})
	for _, u := range sub.Uses {
		r.use(u)
	}
	r.Edited = plain.Last(append(r.Edited, slices.DeleteFunc(sub.Edited, func(path string) bool { return slices.Contains(r.Edited, path) })...), editedBound(), plain.JSONSize)
	return found
}

// sidechain adds the files that a line of a subagent edits or reads.
func (r *reader) sidechain(e *transcript.Event) {
	for _, use := range e.Uses {
		call := Call{ID: plain.Head(use.ID, maxName), Tool: use.Tool, Subagent: true}
		switch {
		case transcript.IsEdit(use.Tool), use.Tool == "Read", use.Tool == "NotebookRead":
			call.Text = r.path(firstOf(use.Input, "file_path", "notebook_path"))
		case use.Tool == "Bash":
			for _, path := range shellcmd.Split(use.Input.Member("command").Text()).Files(r.Cwd) {
				const most = 16
				if path = r.path(path); path != "" && len(call.Shown) < most {
					call.Shown = append(call.Shown, path)
				}
			}
		}
		if call.Text != "" || len(call.Shown) > 0 {
			r.open(call)
		}
	}
	for _, res := range e.Results {
		i := slices.IndexFunc(r.Open, func(c Call) bool { return c.Subagent && c.ID == plain.Head(res.Of, maxName) })
		if i < 0 {
			continue
		}
		call := r.Open[i]
		r.Open = slices.Delete(r.Open, i, i+1)
		if res.Failed {
			continue
		}
		if transcript.IsEdit(call.Tool) && !ownFile(call.Text) {
			r.Edited = plain.Append(r.Edited, call.Text, editedBound())
			r.use(Use{Path: call.Text, Edits: 1, Subagents: 1})
			continue
		}
		for _, path := range append(call.Shown, call.Text) {
			if path != "" && !ownFile(path) {
				r.use(Use{Path: path, Reads: 1, Subagents: 1})
			}
		}
	}
}

// reported returns the files that a report names: absolute paths below the session's
// directory, paths below a folder of them or of files known before, and names of known files.
func (r *reader) reported(text string) []string {
	const most = 64 << 10
	var words []string
	for word := range strings.FieldsFuncSeq(plain.Head(text, most), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("._-/@+~", c)
	}) {
		if word = strings.Trim(word, ".-"); strings.Contains(word, "/") && strings.Contains(word[strings.LastIndexByte(word, '/'):], ".") && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	folder := func(path string) string {
		rest, below := strings.CutPrefix(path, r.Cwd+"/")
		first, _, nested := strings.Cut(rest, "/")
		if !below || !nested {
			return ""
		}
		return first
	}
	folders := map[string]bool{}
	for _, u := range r.Uses {
		folders[folder(u.Path)] = true
	}
	for _, word := range words {
		folders[folder(word)] = true
	}
	delete(folders, "")
	var found []string
	for _, word := range words {
		first, _, _ := strings.Cut(strings.TrimPrefix(word, "./"), "/")
		if !strings.HasPrefix(word, r.Cwd+"/") && !folders[first] {
			continue
		}
		for _, path := range r.mentioned(word) {
			if !slices.Contains(found, path) {
				found = append(found, path)
			}
		}
	}
	return found
}
