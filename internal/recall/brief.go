package recall

import "time"

// The hard limits of what is injected.
const (
	// MaxUnits is the length of each string, in UTF-16 code units: the agent
	// puts aside what is longer.
	MaxUnits = 9900
	// MaxTokens is the size of all strings together, as CountTokens counts.
	MaxTokens = 5000
)

// Kind is which brief.
type Kind int

// The kinds.
const (
	// Full is for a session that goes on with the work.
	Full Kind = iota
	// Short is for one that was compacted: the agent has a summary already.
	Short
	// Drift tells a resumed session only what changed meanwhile.
	Drift
	// Notice says in two lines that there is a checkpoint.
	Notice
)

// Present is a file as it is now.
type Present struct {
	Exists  bool
	Hash    string // as in File
	Content string // redacted; empty where it wasn't read
}

// Material is what a brief is made from.
type Material struct {
	Checkpoint Checkpoint // with contents
	Kind       Kind
	Now        time.Time
	// Present are the checkpoint's files as they are now, Base their contents at
	// the commit the session began with, redacted, where there were any.
	Present map[string]Present
	Base    map[string]string
	// Branch and Commit are what is checked out now.
	Branch, Commit string
	// Others names other sessions' work on the same files.
	Others []Other
	// Parts is the number of strings that can be injected, 1 or 2.
	Parts int
}

// Other is another session that changed files of a checkpoint after it.
type Other struct {
	Session string
	Files   []string
	At      time.Time
}

// Brief is what is injected.
type Brief struct {
	// Message is the line for the person, and the first line of the text.
	Message string `json:"message"`
	// Parts are the strings, each shorter than MaxUnits, the first with the
	// digest; none if there is nothing to say.
	Parts []string `json:"parts"`
	// Tokens is CountTokens of all parts.
	Tokens int `json:"tokens"`
	// Whole, Hunks, Outlined and Named are the files by how much of them is in.
	Whole    []string `json:"files_whole,omitempty"`
	Hunks    []string `json:"files_hunks,omitempty"`
	Outlined []string `json:"files_outlined,omitempty"`
	Named    []string `json:"files_named,omitempty"`
}

// Write makes the brief. Whatever the material holds, the limits hold.
func Write(m Material) Brief { panic("unfinished") }
