package recall

import "time"

// Fact is one thing that a transcript shows and a later session may need. Its texts are quotes of
// the transcript, redacted, each one line of at most 300 bytes; nothing in them is concluded.
type Fact struct {
	Kind FactKind `json:"kind"`
	By   Speaker  `json:"by"`
	Text string   `json:"text"`
	// Why is the reason that was given, what a check printed, or what was done with a reference;
	// empty if there is none. docs/formats/context.md has the meaning of Text, Why and Command
	// for each kind.
	Why string `json:"why,omitempty"`
	// Plan is the title of the accepted plan that states a decision; empty for the plan itself.
	Plan string `json:"plan,omitempty"`
	// Files are the paths that it is about, relative to the root of the worktree; absolute in a
	// digest. Command is the shell command that it is about, one line.
	Files   []string `json:"files,omitempty"`
	Command string   `json:"command,omitempty"`
	// Request is the number of requests of the session up to it, 0 if unknown.
	Request int `json:"request,omitempty"`
	// Times counts how often it was said in the session, if more than once.
	Times int       `json:"times,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

// FactKind is the kind of a fact.
type FactKind string

// The kinds.
const (
	// Decision is a choice between alternatives with a consequence in the code or the plan. A
	// request, a complaint or a question is none.
	Decision FactKind = "decision"
	// Attempt is something that was tried and given up.
	Attempt FactKind = "attempt"
	// Rule is an instruction that holds beyond the request in which it was given: general words
	// of a person ("always ...", "don't ..."), or a correction.
	Rule FactKind = "rule"
	// Environment is a port, a command that worked, or the place of a credential, never its value.
	Environment FactKind = "environment"
	// Reference is the number or URL of a pull request, an issue or a review.
	Reference FactKind = "reference"
	// Failure is a check that failed and did not pass since.
	Failure FactKind = "failure"
)

// Speaker is who said a fact.
type Speaker string

// The speakers.
const (
	Person  Speaker = "person"
	OfPlan  Speaker = "plan" // accepted by the person
	OfAgent Speaker = "agent"
	Output  Speaker = "output" // of a command
)
