package shellcmd

import (
	"slices"
	"strings"
)

// Matters reports whether a line is worth repeating: it runs tests, a build or a linter
// (checks), or another program that does more than show something, change files or run git.
// Lines with the same key run the same commands.
func (l Line) Matters() (key string, checks, ok bool) {
	keys := make([]string, 0, len(l.commands))
	// These only move, copy, remove or transfer files, or manage processes and the shell.
	moves := strings.Fields("cp mv rm rmdir ln tar unzip zip curl wget open pkill killall lsof ssh scp rsync alias ulimit time proxy")
	for _, c := range l.commands {
		of := c.checks() &^ (commits | pushes)
		switch program := c.program(); {
		case of != 0:
			checks = true
		case c.trivial(), slices.Contains(moves, program), len(c.words) > 1 && (c.words[1] == "-c" || c.words[1] == "-e"),
			program == "git", program == "gh", strings.HasPrefix(program, "-"), strings.HasPrefix(program, "$"):
			continue
		}
		keys = append(keys, strings.Join(c.words, " "))
	}
	return strings.Join(keys, " && "), checks, len(keys) > 0
}
