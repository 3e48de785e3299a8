package sharing

import (
	"context"
	"slices"
	"strings"
)

// pushCall is what matters of the command line of git push.
type pushCall struct {
	DryRun bool
	Quiet  bool
}

// pushCall reads the command line of the git process that runs this hook,
// which git doesn't pass to its pre-push hook; false where it can't be read.
func (pu *Pusher) pushCall(ctx context.Context) (pushCall, bool) {
	verb, args := pu.operations.Command(ctx)
	return readPush(args), verb == "push"
}

// readPush reads the arguments of git push by git's rules: options may be
// bundled, cut short as long as nothing else begins so, taken back by a later
// --no-, and come after the names of remote and refs.
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

// short reads bundled options of one letter, and reports whether the next argument
// is the value of the last.
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

// long reads an option of a word, and reports whether the next argument is its
// value.
func (c *pushCall) long(word string) (value bool) {
	word, _, joined := strings.Cut(word, "=")
	name, negated := strings.CutPrefix(word, "no-")
	switch longOption(name) {
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

// longOption is the option of git push that the word names, whole or by a
// beginning that no other has; empty if there is none.
func longOption(word string) string {
	options := []string{
		"all", "atomic", "branches", "delete", "dry-run", "exec", "follow-tags", "force", "force-if-includes",
		"force-with-lease", "ipv4", "ipv6", "mirror", "porcelain", "progress", "prune", "push-option", "quiet",
		"receive-pack", "recurse-submodules", "repo", "set-upstream", "signed", "tags", "thin", "verbose", "verify",
	}
	if slices.Contains(options, word) {
		return word
	}
	options = slices.DeleteFunc(options, func(o string) bool { return !strings.HasPrefix(o, word) })
	if len(options) != 1 {
		return ""
	}
	return options[0]
}
