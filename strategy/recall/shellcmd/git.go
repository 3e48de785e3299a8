package shellcmd

import "strings"

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
		case "add", "rm", "mv":
			for _, word := range words[1:] {
				if (!strings.HasPrefix(word, "-") || word == "-A" || word == "--all") && len(g.Arguments) < mostArguments {
					g.Arguments = append(g.Arguments, word)
				}
			}
		case "commit":
			g.commit(words[1:])
		case "push", "reset", "restore", "checkout", "switch", "stash":
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

// The results of Pull for a pull request whose number is not in the line.
const (
	NewPull  = "new"  // the line creates it
	ThisPull = "this" // the pull request of the branch
)

// Pull returns the number of the pull request that the line works on with gh, or NewPull or
// ThisPull; empty if there is none.
func (l Line) Pull() string {
	for _, c := range l.commands {
		if c.program() != "gh" {
			continue
		}
		args := c.arguments()
		for _, arg := range args {
			if _, rest, ok := strings.Cut(arg, "/pulls/"); ok && args[0] == "api" {
				if n := len(rest) - len(strings.TrimLeft(rest, "0123456789")); n > 0 {
					return rest[:n]
				}
			}
		}
		if len(args) < 2 || args[0] != "pr" {
			continue
		}
		switch args[1] {
		case "create":
			return NewPull
		case "view", "checks", "diff", "comment", "edit", "merge", "ready", "review", "checkout", "reopen", "close":
			if len(args) > 2 && isNumber(args[2]) {
				return args[2]
			}
			return ThisPull
		}
	}
	return ""
}
