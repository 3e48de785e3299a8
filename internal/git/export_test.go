package git

var ParseConfig = parseConfig

var DecodeTree = decodeTree

// OnlyProcess lets r read all objects through git's process.
func OnlyProcess(r *Repo) { r.replaces = func() bool { return true } }
