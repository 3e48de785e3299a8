package digest

import (
	"hash/fnv"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// Replaced is an edit that a later one may take back. Old and New are hashes of the texts, Why
// is the agent's text before it.
type Replaced struct {
	Path string `json:"path"`
	Old  uint64 `json:"old"`
	New  uint64 `json:"new"`
	Why  string `json:"why,omitempty"`
}

// replacement returns the hashes of the texts of an edit, zero if they are too short to tell
// edits apart, or if the edit replaces the same text everywhere.
func replacement(input transcript.Value) (old, replacing uint64) {
	const shortest = 24
	before, after := input.Member("old_string"), input.Member("new_string")
	if len(before) < shortest || len(after) < shortest {
		return 0, 0
	}
	hash := func(v transcript.Value) uint64 {
		h := fnv.New64a()
		_, _ = h.Write(v)
		return h.Sum64()
	}
	return hash(before), hash(after)
}

// replaced records an edit, and the attempt that it takes back, if it does.
func (r *reader) replaced(call Call) {
	if call.Old == 0 || call.Old == call.New {
		return
	}
	line := r.lastLine()
	i := slices.IndexFunc(r.Replaced, func(e Replaced) bool { return e.Path == call.Text && e.Old == call.New && e.New == call.Old })
	if i >= 0 {
		tried := r.Replaced[i].Why
		r.Replaced = slices.Delete(r.Replaced, i, i+1)
		low := lowered(line)
		if tried != "" && line != "" && tried != line && !containsAny(lowered(tried)+low, " debug", " clean up", " cleanup", " unused", " import", " timing", " logging", " temporar", " mutat") {
			if !containsAny(low, " revert", " back ", " instead", " undo", " restor", " actually", " simpl", " wrong", " different", " should ", " drop", " remov", " not ", "n't ") {
				line = "" // about something else
			}
			r.learn(recall.Fact{Kind: recall.Attempt, By: recall.OfAgent, Text: tried, Why: line, Files: []string{call.Text}}, false)
		}
		return
	}
	const fields = 80 // their names, and the numbers
	r.Replaced = plain.Last(append(r.Replaced, Replaced{Path: call.Text, Old: call.Old, New: call.New, Why: line}), plain.Bound{Items: 12, Bytes: 4 << 10},
		func(e Replaced) int { return plain.JSONSize(e.Path) + plain.JSONSize(e.Why) + fields })
}

// lastLine returns the end of the agent's last text, if it is of this turn.
func (r *reader) lastLine() string {
	if r.SaidAt != r.Prompts {
		return ""
	}
	r.text.reason(r.Said, r.redact)
	return r.text.end
}

// restored records the attempts that a git command takes back: edits of files that it restores
// and that are not committed.
func (r *reader) restored(git shellcmd.Git, command string) {
	if git.Command != "restore" && git.Command != "checkout" || git.Masked || containsAny(command, " --ours ", " --theirs ") { // of a merge
		return
	}
	for _, n := range r.Notes {
		if n.Committed || n.Created || n.Why == "" || !slices.ContainsFunc(git.Arguments, func(arg string) bool { return strings.HasSuffix(n.Path, "/"+strings.TrimPrefix(arg, "./")) }) {
			continue
		}
		r.learn(recall.Fact{Kind: recall.Attempt, By: recall.OfAgent, Text: n.Why, Why: r.lastLine(), Files: []string{n.Path}, Command: command}, false)
	}
}

// gaveUp records that a text of the agent gives up what it tried: the text before it, if the
// agent changed something since.
func (r *reader) gaveUp(sentence, before string) {
	if !r.Worked || len(r.Edited) == 0 || r.SaidAt != r.Prompts {
		return
	}
	low := lowered(sentence)
	if !containsAny(low, " different approach", " another approach", " approach doesn't work", " approach didn't work", " approach won't work", " approach does not work",
		" that didn't work", " that doesn't work", " that does not work", " this doesn't work", " this won't work") ||
		containsAny(low, " match", " unique ", " whitespace", " replacement", " partial edits", " if ", " would ", " could ", "?") {
		return
	}
	why := item(strings.TrimSpace(before+" "+sentence), r.redact)
	r.learn(recall.Fact{Kind: recall.Attempt, By: recall.OfAgent, Text: r.lastLine(), Why: why, Files: r.Edited[len(r.Edited)-1:]}, false)
}

// takesBack reports whether a sentence of a prompt, in lower case, takes back what the agent
// did.
func takesBack(low string) bool {
	if containsAny(low, " how ", " what ", " why ", " should we ", " should i ", " would ", " if ", " did you ", " can i ") {
		return false
	}
	for _, c := range clauses(low) {
		back := c.begins("put", "let's put", "bring", "let's bring", "change", "roll", "let's roll") && containsAny(c.text, " back ") ||
			c.begins("go back to", "let's go back to")
		switch {
		case c.begins("i've reverted", "i reverted", "i have reverted", "i undid", "i've undone", "i rolled back", "not like that", "not like this"),
			c.free && c.begins("revert", "undo", "let's revert", "let's undo", "can you revert", "can you undo", "could you revert", "could you undo"),
			c.free && back,
			c.begins("remove this again", "remove it again", "remove that again", "take it out again", "take that out again"):
			return true
		}
	}
	return false
}

// tookBack records that the person took back what the agent did for the request before, drops
// what was decided for it, and reports whether anything was changed.
func (r *reader) tookBack(f recall.Fact) bool {
	before := f.Request - 1
	var files []string
	for _, n := range r.Notes {
		if n.Request == before && len(files) < maxFactFiles {
			files = append(files, n.Path)
		}
	}
	if len(files) == 0 && len(f.Files) == 0 {
		return false
	}
	r.Facts = slices.DeleteFunc(r.Facts, func(old Fact) bool {
		return old.Kind == recall.Decision && old.Request == before && (old.By == recall.OfAgent || old.Plan != "")
	})
	if len(f.Files) == 0 {
		f.Files = files
	}
	r.learn(f, false)
	return true
}
