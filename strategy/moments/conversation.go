package moments

// ReplacedTranscript is a transcript that a rewind replaced, in the file
// sessions.json of its rescue, by which --undo puts it back.
type ReplacedTranscript struct {
	Session string `json:"session_id"`
	Path    string `json:"path"`
	// Copy is where the former one is kept.
	Copy string `json:"copy"`
	// Size and Hash, a SHA-256, are of what took its place.
	Size int64  `json:"size"`
	Hash string `json:"sha256"`
}
