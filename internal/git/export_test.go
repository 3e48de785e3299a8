package git

// ParseConfig is open to tests, which compare it with git's own reader.
var ParseConfig = parseConfig
