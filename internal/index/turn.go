package index

import "time"

// Turn is a turn as it is filled in.
type Turn struct {
	// Key distinguishes it in its session.
	Key int64
	// Line is its first line in the transcript, End the line behind its last one.
	Line, End int
	At, Ended time.Time
	Branch    string
	// Prompt is in one line.
	Prompt string
	// Context is the id of the saved context that the turn is made of, empty if it is of a
	// transcript.
	Context  string
	Calls    []Call
	Files    []FileChange
	Messages []Message
	// Texts are by kind; that of File is made of Files.
	Texts [kinds]string
}

// Outcome is how a command ended.
type Outcome int

// The outcomes.
const (
	Unknown Outcome = iota
	Passed
	Failed
)

// Call is a use of a tool.
type Call struct {
	Line int
	At   time.Time
	Tool string
	// Text is the command, if it is one, else what describes the use.
	Text    string
	Command bool
	Outcome Outcome
	// Status is the exit status, -1 if it isn't known.
	Status int
	// Agent is the subagent's id, empty for the session's own.
	Agent string
}

// FileChange is a file that a turn changed.
type FileChange struct {
	Path           string
	Added, Removed int
	// Edited reports that an edit tool named it, Observed that snapshots differ in it.
	Edited, Observed bool
	// Before and After are the beginnings of hashes of its contents, empty if they aren't
	// known; a zero byte for no file.
	Before, After []byte
}

const (
	sourceEdit = 1 << iota
	sourceSnapshot
)

// Message is a message of a model.
type Message struct {
	// ID is a hash of its id.
	ID    int64
	Model string
	// Subagent reports that a subagent had it.
	Subagent bool
	Tokens
}

// Tokens counts tokens by kind.
type Tokens struct{ Input, CacheWrite, CacheRead, Output int64 }

// Plus is the sum.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.CacheWrite + o.CacheWrite, t.CacheRead + o.CacheRead, t.Output + o.Output}
}

// Total is the sum of all kinds.
func (t Tokens) Total() int64 { return t.Input + t.CacheWrite + t.CacheRead + t.Output }
