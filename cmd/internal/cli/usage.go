package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// refusal describes wrong usage in at most three lines: the error, a correction if there is one,
// and the command that shows the usage.
type refusal struct{ text, hint, help string }

// refuse returns the description of an error of wrong usage.
func refuse(cmd *cobra.Command, err error) refusal {
	r := refusal{text: err.Error(), hint: app.HintOf(err), help: fmt.Sprintf("`%s --help` shows the usage", cmd.CommandPath())}
	noTerminal, isNoTerminal := errors.AsType[*ui.NoTerminalError](err)
	unknownFlag, isUnknownFlag := errors.AsType[*pflag.NotExistError](err)
	args := cmd.Flags().Args()
	switch {
	case isUnknownFlag && len(args) > 0 && cmd.HasAvailableSubCommands() && cmd.ValidateArgs(args) != nil: // the flag is that of an unknown command
		r.text, r.hint = refuseArgs(cmd, args)
	case isNoTerminal:
		r.text, r.hint, r.help = noTerminal.Text(), "pass "+noTerminal.Flag, ""
	case isUnknownFlag:
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				flags = append(flags, f.Name)
			}
		})
		name := unknownFlag.GetSpecifiedName()
		r.hint = ""
		more := slices.IndexFunc(moreDetail, func(name string) bool { return cmd.Flags().Lookup(name) != nil })
		switch found := setup.Nearest(flags, name); {
		case (name == "v" || name == "verbose") && more >= 0:
			r.hint = fmt.Sprintf("--%s shows more", moreDetail[more])
		case len(name) > 1 && found != "":
			r.hint = fmt.Sprintf("did you mean --%s?", found)
		case cmd.Name() == "log":
			r.hint = ofGitLog[name]
		}
	case r.hint == "":
		if cmd.ValidateArgs(args) != nil {
			r.text, r.hint = refuseArgs(cmd, args)
		} else if m := regexp.MustCompile(`^if any flags in the group .* \[(.*)\] were all set$`).FindStringSubmatch(r.text); m != nil {
			// cobra's errors for flags that exclude each other, or of which one is required.
			r.text = "--" + strings.Join(strings.Fields(m[1]), " and --") + " can't be combined"
		} else if m := regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required$`).FindStringSubmatch(r.text); m != nil {
			r.text = "one of --" + strings.Join(strings.Fields(m[1]), ", --") + " is needed"
		}
	}
	r.text, _, _ = strings.Cut(r.text, "\n")
	return r
}

// refuseArgs describes arguments that a command doesn't accept.
func refuseArgs(cmd *cobra.Command, args []string) (text, hint string) {
	_, synopsis, _ := strings.Cut(cmd.Use, " ")
	switch {
	case len(args) == 0 || strings.Contains(synopsis, "> <") && len(args) == 1:
		return "an argument is missing", fmt.Sprintf("type %s %s", cmd.CommandPath(), synopsis)
	case cmd.HasAvailableSubCommands():
		if text, known := guesses[args[0]]; known && !cmd.HasParent() && hasWorkflows(cmd) {
			return fmt.Sprintf("there is no command %q", args[0]), text
		}
		// The command with the word in SuggestFor, else the one with the most similar name.
		var name string
		other := func(sub *cobra.Command) bool { return slices.Contains(sub.SuggestFor, args[0]) }
		if i := slices.IndexFunc(cmd.Commands(), other); i >= 0 {
			name = cmd.Commands()[i].Name()
		} else {
			name = nearest(cmd, args[0])
		}
		if name != "" {
			hint = fmt.Sprintf("did you mean `%s %s`?", cmd.CommandPath(), name)
			if sub, _, err := cmd.Find([]string{name}); err == nil && sub.Annotations[formerly] != "" {
				hint = "did you mean " + sub.Annotations[formerly] + "?"
			}
		}
		return fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath()), hint
	case synopsis != "":
		hint = fmt.Sprintf("type %s %s", cmd.CommandPath(), synopsis)
	}
	return fmt.Sprintf("%q takes no argument %q", cmd.CommandPath(), args[len(args)-1]), hint
}

// likeGit returns the arguments of a command line with a limit in git's form, -5, as -n5.
func likeGit(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Flags().ShorthandLookup("n") == nil || cmd.Flags().Lookup("limit") == nil {
		return args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if i > 0 && takesValue(cmd, args[i-1]) {
			continue
		}
		if digits, isFlag := strings.CutPrefix(arg, "-"); isFlag && digits != "" && strings.Trim(digits, "0123456789") == "" {
			args[i] = "-n" + digits
		}
	}
	return args
}

// takesValue reports whether the argument after this one is the value of a flag.
func takesValue(cmd *cobra.Command, arg string) bool {
	name, isLong := strings.CutPrefix(arg, "--")
	f := cmd.Flags().Lookup(name)
	if !isLong && len(arg) == len("-n") && arg[0] == '-' {
		f = cmd.Flags().ShorthandLookup(arg[1:])
	}
	return f != nil && (isLong || arg[0] == '-') && f.NoOptDefVal == ""
}

// guesses are hints for the names of commands of other programs, where no command here does the same.
var guesses = map[string]string{ //nolint:gochecknoglobals // a table
	"pause":      "`entire disable` pauses recording, `entire enable` resumes it",
	"stop":       "`entire disable` stops recording",
	"start":      "`entire enable` starts recording",
	"init":       "`entire enable` starts recording here, `agentfs init` creates a store of snapshots",
	"install":    "`entire enable` installs the hooks",
	"uninstall":  "`entire disable --uninstall` removes everything that `entire enable` set up",
	"rm":         "`entire forget` removes recorded content, `entire snapshot delete` snapshots",
	"remove":     "`entire forget` removes recorded content, `entire snapshot delete` snapshots",
	"delete":     "`entire forget` removes recorded content, `entire snapshot delete` snapshots",
	"unset":      "`entire config unset KEY` removes a setting",
	"pull":       "`entire fetch` fetches the checkpoints of others",
	"clone":      "`git clone` copies the repository, then `entire fetch` the checkpoints",
	"commit":     "commit with git: hooks link the commit to its session",
	"login":      "there is no account: checkpoints go only to git remotes, with `entire push`",
	"logout":     "there is no account: checkpoints go only to git remotes, with `entire push`",
	"checkpoint": "`entire log --commits` lists checkpoints, `entire snapshot create` takes a snapshot",
	"backup":     "`entire snapshot create` takes a snapshot of the whole working tree",
	"save":       "`entire snapshot create` saves the working tree, `entire recall save` a session's context",
	"stash":      "`entire snapshot create` takes a snapshot of the whole working tree",
	"gc":         "`entire clean` removes records that are no longer needed, `entire snapshot prune` old snapshots",
	"prune":      "`entire snapshot prune` deletes old snapshots, `entire clean` records that are no longer needed",
	"test":       "`entire doctor` checks that recording works, `entire bisect run` finds what broke a command",
	"list":       "`entire log` lists turns, `entire log --sessions` sessions, `entire snapshot` snapshots",
	"cat":        "`entire show v12:FILE` prints a file of a snapshot",
	"ls":         "`entire log` lists turns, `entire log --sessions` sessions, `entire snapshot` snapshots",
}

// ofGitLog are hints for flags that users know from git log.
var ofGitLog = map[string]string{ //nolint:gochecknoglobals // a table
	"oneline": "each turn is one line: leave --oneline out",
	"stat":    "each turn has its number of files and lines: -p shows them",
	"graph":   "`entire browse` shows turns on the whole screen",
	"grep":    "`entire search WORDS` searches what was asked, answered and run",
}

// moreDetail are flags for more detail, which users of other programs look for as --verbose.
var moreDetail = []string{"detailed", "full", "patch", "commands", "changes", "all"} //nolint:gochecknoglobals // a table

// nearest returns the name of the subcommand that setup.Nearest finds.
func nearest(cmd *cobra.Command, word string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.Annotations[formerly] != "" {
			names = append(append(names, sub.Name()), sub.Aliases...)
		}
	}
	return setup.Nearest(names, word)
}
