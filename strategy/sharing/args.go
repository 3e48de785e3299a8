package sharing

import (
	"slices"
	"strings"
)

// pushCall holds the relevant options of a git push.
type pushCall struct {
	DryRun bool
	Quiet  bool
}

// readPush parses the arguments of git push by git's rules: options may be bundled,
// abbreviated as long as they are unambiguous, negated by a later --no-, and follow the names
// of remote and refs.
func readPush(args []string) pushCall {
	var call pushCall
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return call
		case strings.HasPrefix(arg, "--"):
			if call.long(arg[2:]) {
				i++ // its value
			}
		case strings.HasPrefix(arg, "-"):
			if call.short(arg[1:]) {
				i++
			}
		}
	}
	return call
}

// short parses bundled options of one letter, and reports whether the next argument is the
// value of the last.
func (c *pushCall) short(letters string) (value bool) {
	for i, letter := range letters {
		switch letter {
		case 'n':
			c.DryRun = true
		case 'q':
			c.Quiet = true
		case 'v':
			c.Quiet = false
		case 'o':
			return i == len(letters)-1 // else the rest is the value
		}
	}
	return false
}

// long parses a long option, and reports whether the next argument is its value.
func (c *pushCall) long(word string) (value bool) {
	word, _, joined := strings.Cut(word, "=")
	name, negated := strings.CutPrefix(word, "no-")
	options := []string{
		"all", "atomic", "branches", "delete", "dry-run", "exec", "follow-tags", "force", "force-if-includes",
		"force-with-lease", "ipv4", "ipv6", "mirror", "porcelain", "progress", "prune", "push-option", "quiet",
		"receive-pack", "recurse-submodules", "repo", "set-upstream", "signed", "tags", "thin", "verbose", "verify",
	}
	if !slices.Contains(options, name) { // an unambiguous abbreviation counts
		options = slices.DeleteFunc(options, func(o string) bool { return !strings.HasPrefix(o, name) })
		if len(options) != 1 {
			return false
		}
		name = options[0]
	}
	switch name {
	case "dry-run":
		c.DryRun = !negated
	case "quiet":
		c.Quiet = !negated
	case "verbose":
		c.Quiet = false
	case "repo", "receive-pack", "exec", "push-option", "recurse-submodules":
		return !joined && !negated
	}
	return false
}
