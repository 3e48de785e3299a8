package session

// Exported for the tests of the state file's encoding.
var (
	Decode = decode
	Encode = encode
)
