package shellcmd

import (
	"slices"
	"strings"
)

// Git is a git command of a line.
type Git struct {
	// Command is add, commit, push and so on. Arguments are its arguments without flags,
	// except those for all files.
	Command   string   `json:"command"`
	Arguments []string `json:"arguments,omitempty"`
	// For a commit: Subject is the first line of its message, All is set if it includes all
	// tracked files, Amends if it replaces the last commit.
	Subject string `json:"subject,omitempty"`
	All     bool   `json:"all,omitempty"`
	Amends  bool   `json:"amends,omitempty"`
	// Masked is set if the line may succeed even if this command fails.
	Masked bool `json:"masked,omitempty"`
	// Dir is the folder in which it runs, empty if determining it needs a shell.
	Dir string `json:"-"`
}

// GitCommands returns the git commands of the line, run in cwd, that change the index, the
// worktree, the history or a remote.
func (l Line) GitCommands(cwd string) []Git {
	const most, mostArguments = 8, 40
	var all []Git
	for _, c := range l.commands {
		if c.program() == "cd" {
			cwd = ResolvePath(c.argument(0), cwd)
		}
		if c.program() != "git" || len(all) == most {
			continue
		}
		g := Git{Masked: l.masked, Dir: cwd}
		words := c.words[1:]
		for len(words) > 1 && (words[0] == "-C" || words[0] == "-c") {
			if words[0] == "-C" {
				g.Dir = ResolvePath(words[1], g.Dir)
			}
			words = words[2:]
		}
		if len(words) == 0 {
			continue
		}
		g.Command = words[0]
		switch g.Command {
		case "add", "rm", "mv", "checkout", "restore":
			if slices.Contains(words, "-b") || slices.Contains(words, "-B") {
				break // a new branch
			}
			for _, word := range words[1:] {
				if (!strings.HasPrefix(word, "-") || word == "-A" || word == "--all") && len(g.Arguments) < mostArguments {
					g.Arguments = append(g.Arguments, word)
				}
			}
		case "commit":
			g.commit(words[1:])
		case "push", "reset", "switch", "stash":
		default:
			continue
		}
		all = append(all, g)
	}
	return all
}

// commit parses the arguments of git commit.
func (g *Git) commit(words []string) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "--amend":
			g.Amends = true
		case word == "--all":
			g.All = true
		case word == "-F" || word == "--file" || word == "--author" || word == "-C" || word == "--date":
			i++
		case strings.HasPrefix(word, "--message="):
			g.subject(strings.TrimPrefix(word, "--message="))
		case strings.HasPrefix(word, "--"):
		case strings.HasPrefix(word, "-"):
			g.All = g.All || strings.Contains(word, "a")
			if (strings.HasSuffix(word, "m") || word == "--message") && i+1 < len(words) {
				i++
				g.subject(words[i])
			}
		default:
			g.Arguments = append(g.Arguments, word)
		}
	}
}

// subject sets the subject to the first line of a message, which may be a here-document.
func (g *Git) subject(message string) {
	if g.Subject != "" {
		return
	}
	if strings.HasPrefix(message, "$(cat <<") {
		_, message, _ = strings.Cut(message, "\n")
	}
	g.Subject, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
}

// Reference is a pull request or an issue on which a line works with gh.
type Reference struct {
	// Number is its number, empty if the line creates it, or for the pull request of the
	// branch. Repository is "owner/name" if the line has it.
	Number     string `json:"number,omitempty"`
	Repository string `json:"repository,omitempty"`
	Issue      bool   `json:"issue,omitempty"`
	// Done is what the line does with it: "created", "read" and so on.
	Done string `json:"done"`
}

// Created is the value of Done of a new pull request or issue.
const Created = "created"

// Reference returns the first pull request or issue of the line.
func (l Line) Reference() (Reference, bool) {
	for _, c := range l.commands {
		args := c.arguments()
		if c.program() != "gh" || len(args) < 2 { //nolint:mnd // a command of two words
			continue
		}
		var ref Reference
		switch args[0] {
		case "api":
			ref = c.apiReference()
		case "pr", "issue":
			ref = Reference{Issue: args[0] == "issue", Done: map[string]string{
				"create": Created, "view": "read", "checks": "read the checks of", "diff": "read", "comment": "commented on", "edit": "edited", "merge": "merged",
				"ready": "edited", "review": "reviewed", "checkout": "checked out", "reopen": "reopened", "close": "closed",
			}[args[1]]}
			if len(args) > 2 && isNumber(args[2]) && ref.Done != Created { //nolint:mnd // the argument of the command
				ref.Number = args[2]
			}
		}
		if ref.Done != "" {
			return ref, true
		}
	}
	return Reference{}, false
}

// apiReference returns what a gh api command works on, the zero Reference if that is neither a
// pull request nor an issue.
func (c command) apiReference() Reference {
	for _, arg := range c.arguments() {
		parts := strings.Split(strings.TrimPrefix(arg, "/"), "/")
		const withNumber = 5 // repos/owner/name/pulls/12
		if len(parts) < withNumber || parts[0] != "repos" || parts[3] != "pulls" && parts[3] != "issues" || !isNumber(parts[4]) {
			continue
		}
		ref := Reference{Number: parts[4], Issue: parts[3] == "issues", Done: "read"}
		if !strings.Contains(parts[1]+parts[2], "$") {
			ref.Repository = parts[1] + "/" + parts[2]
		}
		switch {
		case slices.Contains(c.words, "-f"), slices.Contains(c.words, "POST"):
			ref.Done = "replied to the review of"
		case strings.Contains(arg, "/comments"), strings.Contains(arg, "/reviews"):
			ref.Done = "read the review of"
		}
		return ref
	}
	return Reference{}
}
