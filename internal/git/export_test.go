package git

// These are open to tests, which compare them with git or feed them garbage.
var (
	ParseConfig  = parseConfig
	DecodeTree   = decodeTree
	DecodeCommit = decodeCommit
)
