package index

import "time"

// Turn is a turn to write to the index.
type Turn struct {
	// Key identifies the turn in its session.
	Key int64
	// Line is its first line in the transcript, End the line after its last one.
	Line, End int
	At, Ended time.Time
	Branch    string
	// Prompt is a single line.
	Prompt string
	// Context is the id of the saved context that the turn is made from, empty for a turn
	// of a transcript.
	Context string
	// Marked reports that the transcript marks the turn as recorded in another session.
	Marked   bool
	Calls    []Call
	Files    []FileChange
	Messages []Message
	// Texts are indexed by kind; that of File is derived from Files.
	Texts [kinds]string
}

// Outcome is the outcome of a command.
type Outcome int

// The outcomes.
const (
	Unknown Outcome = iota
	Passed
	Failed
)

// Call is a tool call.
type Call struct {
	Line int
	At   time.Time
	Tool string
	// Text is the command if Command is set, else a description of the call.
	Text    string
	Command bool
	Outcome Outcome
	// Status is the exit status, -1 if unknown.
	Status int
	// Agent is the id of the subagent that made the call, empty for the main agent.
	Agent string
}

// FileChange is a file that a turn changed.
type FileChange struct {
	Path           string
	Added, Removed int
	// Edited is set if an edit tool changed it, Observed if it differs between snapshots,
	// Recorded if a checkpoint has it as a change of the turn.
	Edited, Observed, Recorded bool
	// Before and After are prefixes of hashes of its contents, empty if unknown, a zero
	// byte if the file does not exist.
	Before, After []byte
}

const (
	sourceEdit = 1 << iota
	sourceSnapshot
	sourceRecord
)

// Message is a message of a model.
type Message struct {
	// ID is a hash of its id.
	ID    int64
	Model string
	// Subagent is set if the message belongs to a subagent.
	Subagent bool
	Tokens
}

// Tokens counts tokens by kind.
type Tokens struct{ Input, CacheWrite, CacheRead, Output int64 }

// Plus returns the sum of t and o.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.CacheWrite + o.CacheWrite, t.CacheRead + o.CacheRead, t.Output + o.Output}
}

// Total returns the sum of all kinds.
func (t Tokens) Total() int64 { return t.Input + t.CacheWrite + t.CacheRead + t.Output }
