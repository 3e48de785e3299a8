package importaccuracy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// madeBy is the call that wrote a line; the zero value if no call is known to have.
type madeBy struct {
	session, call string
}

// editCall is a call of an edit tool that succeeded.
type editCall struct {
	madeBy

	at       time.Time
	path     string // absolute
	original string // the whole file before the call
	isNew    bool   // there was no file
	edits    []replacement
}

// replacement is a part of an edit. An empty old text replaces the whole file.
type replacement struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// result returns the file after the call.
func (e *editCall) result() string {
	text := e.original
	for _, r := range e.edits {
		switch {
		case r.Old == "":
			text = r.New
		case r.All:
			text = strings.ReplaceAll(text, r.Old, r.New)
		default:
			text = strings.Replace(text, r.Old, r.New, 1)
		}
	}
	return text
}

// replayer replays the calls of edit tools. Each call names the whole file before it, so the
// file after each call is known, and so is the call that brought a line into it.
type replayer struct {
	repo  *testkit.Repo
	roots []string // the longest first
	// calls are the calls by the path in the repository, in the order of time.
	calls map[string][]editCall
	// turns are the numbers of the turns of calls in their sessions.
	turns map[string]int
	known map[string][]madeBy // by commit and path
}

func newReplayer(repo *testkit.Repo, roots []string, sessions map[string]saved) *replayer {
	r := &replayer{repo: repo, roots: slices.Clone(roots), calls: map[string][]editCall{}, turns: map[string]int{}, known: map[string][]madeBy{}}
	slices.SortFunc(r.roots, func(a, b string) int { return len(b) - len(a) })
	for _, session := range slices.Sorted(maps.Keys(sessions)) {
		r.read(session, sessions[session].lines)
	}
	for _, calls := range r.calls {
		slices.SortStableFunc(calls, func(a, b editCall) int { return a.at.Compare(b.at) })
	}
	return r
}

// callBlock is a call of a tool, or its result.
type callBlock struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Of      string `json:"tool_use_id"`
	IsError bool   `json:"is_error"`
	Input   struct {
		replacement

		FilePath string        `json:"file_path"`
		Content  *string       `json:"content"`
		Edits    []replacement `json:"edits"`
	} `json:"input"`
}

// edit returns the call of an edit tool.
func (b *callBlock) edit(session string) editCall {
	call := editCall{madeBy: madeBy{session, b.ID}, path: b.Input.FilePath, edits: b.Input.Edits}
	if b.Input.Content != nil {
		call.edits = []replacement{{New: *b.Input.Content}}
	} else if b.Input.New != "" || b.Input.Old != "" {
		call.edits = []replacement{b.Input.replacement}
	}
	return call
}

// read reads the calls of a session. A call in several files is of the first one.
func (r *replayer) read(session string, lines []string) {
	turn := 0
	open := map[string]editCall{}
	for _, text := range lines {
		var event struct {
			Type      string    `json:"type"`
			Meta      bool      `json:"isMeta"`
			Timestamp time.Time `json:"timestamp"`
			Message   struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
			Result json.RawMessage `json:"toolUseResult"`
		}
		if json.Unmarshal([]byte(text), &event) != nil {
			continue
		}
		var prompt string
		if event.Type == "user" && !event.Meta && json.Unmarshal(event.Message.Content, &prompt) == nil {
			turn++
		}
		var blocks []callBlock
		_ = json.Unmarshal(event.Message.Content, &blocks) // a text has none
		for _, b := range blocks {
			switch {
			case b.Type == "tool_use" && b.Input.FilePath != "":
				call := b.edit(session)
				if _, known := r.turns[b.ID]; !known && len(call.edits) > 0 {
					open[b.ID] = call
					r.turns[b.ID] = turn
				}
			case b.Type == "tool_result" && !b.IsError:
				var result struct {
					Original *string `json:"originalFile"`
				}
				call, isOpen := open[b.Of]
				if !isOpen || json.Unmarshal(event.Result, &result) != nil {
					continue
				}
				delete(open, b.Of)
				call.at, call.isNew = event.Timestamp, result.Original == nil
				if result.Original != nil {
					call.original = *result.Original
				}
				if path := r.relative(call.path); path != "" {
					r.calls[path] = append(r.calls[path], call)
				}
			}
		}
	}
}

// isSameTurn reports whether two calls are in the same turn of a session.
func (r *replayer) isSameTurn(a, b string) bool {
	turn, known := r.turns[a]
	other, isKnown := r.turns[b]
	return known && isKnown && turn == other
}

func (r *replayer) relative(path string) string {
	for _, root := range r.roots {
		if rest, ok := strings.CutPrefix(path, root+"/"); ok {
			return rest
		}
	}
	return ""
}

// fileOf returns the call that brought each line of a file into it, of a commit whose file is exactly
// what the last call before it left; else nil.
func (r *replayer) fileOf(commit, path string, made time.Time) []madeBy {
	key := commit + " " + path
	if known, ok := r.known[key]; ok {
		return known
	}
	content := r.repo.TryGit("show", commit+":"+path)
	var found []madeBy
	// Sessions in several worktrees change several files of this path.
	byRoot := map[string][]editCall{}
	for _, call := range r.calls[path] {
		if root := strings.TrimSuffix(call.path, path); !call.at.After(made) {
			byRoot[root] = append(byRoot[root], call)
		}
	}
	for _, root := range slices.Sorted(maps.Keys(byRoot)) {
		lines, by := replay(byRoot[root])
		if found == nil && content.Code == 0 && slices.Equal(lines, splitText(content.Stdout)) {
			found = by
		}
	}
	r.known[key] = found
	return found
}

// replay returns the lines of a file after calls, and the call that brought each.
func replay(calls []editCall) (lines []string, by []madeBy) {
	for i := range calls {
		call := &calls[i]
		before := splitText(call.original)
		by = carry(lines, before, by, madeBy{}) // what others changed in between
		after := splitText(call.result())
		by = carry(before, after, by, call.madeBy)
		lines = after
	}
	return lines, by
}

// carry returns the writers of the lines of a text that was made of another one: new lines have the
// given one.
func carry(old, lines []string, by []madeBy, changed madeBy) []madeBy {
	result := make([]madeBy, len(lines))
	for i := range result {
		result[i] = changed
	}
	first := 0
	for first < min(len(old), len(lines)) && old[first] == lines[first] {
		result[first] = by[first]
		first++
	}
	last := 0
	for last < min(len(old), len(lines))-first && old[len(old)-1-last] == lines[len(lines)-1-last] {
		last++
		result[len(lines)-last] = by[len(old)-last]
	}
	a, b := old[first:len(old)-last], lines[first:len(lines)-last]
	const most = 1 << 24
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > most {
		return result
	}
	// The longest common subsequence of the rest.
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width)
	for i, one := range slices.Backward(a) {
		for j, other := range slices.Backward(b) {
			if one == other {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			result[first+j] = by[first+i]
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return result
}

func splitText(text string) []string {
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// correct returns the author of a line by the replay, if it has one.
func (r *hiddenRecord) correct(l line) line {
	by := r.replayer.fileOf(l.commit, l.origin, r.time(l.commit))
	if l.kind != "agent" || l.originNumber > len(by) || by == nil {
		return l
	}
	made := by[l.originNumber-1]
	if made.session == "" || made.session == l.session && r.replayer.turns[made.call] == r.replayer.turns[l.call] {
		return l
	}
	r.result.Disputed++
	r.result.fail(DisputedLine, "%s is of %s; the replay has session %.8s, call %s: %.80s", l.where(), l.author(), made.session, made.call, strings.TrimSpace(l.text))
	l.session, l.call, l.prompt = made.session, made.call, fmt.Sprintf("turn %d by the replay", r.replayer.turns[made.call])
	return l
}
