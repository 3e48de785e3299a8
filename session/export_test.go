package session

// What the tests of the state file's encoding need.
var (
	Decode = decode
	Encode = encode
)
