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
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// refusal describes wrong usage in at most three lines: the error, a correction if there is one,
// and the command that shows the usage.
type refusal struct{ text, hint, help string }

// mostTypos is the maximum edit distance of a suggested name.
const mostTypos = 2

// refuse returns the description of an error of wrong usage.
func refuse(cmd *cobra.Command, err error) refusal {
	r := refusal{text: err.Error(), hint: app.HintOf(err), help: fmt.Sprintf("`%s --help` shows how it is used", cmd.CommandPath())}
	noTerminal, isNoTerminal := errors.AsType[*ui.NoTerminalError](err)
	unknownFlag, isUnknownFlag := errors.AsType[*pflag.NotExistError](err)
	switch {
	case isNoTerminal:
		r.text, r.hint, r.help = "can't ask without a terminal: "+noTerminal.Title, "pass "+noTerminal.Flag, ""
	case isUnknownFlag:
		// cobra's search for commands finds the most similar name of a flag.
		flags := &cobra.Command{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			flags.AddCommand(&cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}})
		})
		name := unknownFlag.GetSpecifiedName()
		r.hint = ""
		if found := nearest(flags, name); len(name) > 1 && found != "" {
			r.hint = fmt.Sprintf("did you mean --%s?", found)
		}
	case r.hint == "":
		if args := cmd.Flags().Args(); cmd.ValidateArgs(args) != nil {
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
		}
		return fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath()), hint
	case synopsis != "":
		hint = fmt.Sprintf("type %s %s", cmd.CommandPath(), synopsis)
	}
	return fmt.Sprintf("%q takes no argument %q", cmd.CommandPath(), args[len(args)-1]), hint
}

// nearest returns the name of the subcommand of which word is a prefix or a misspelling, "" if
// there is none. For a word of at most three letters two typos are too many, unless its letters are
// those of the name.
func nearest(cmd *cobra.Command, word string) string {
	const short = 3
	for typos := 1; typos <= mostTypos; typos++ {
		cmd.SuggestionsMinimumDistance = typos
		for _, name := range cmd.SuggestionsFor(word) {
			if typos == 1 || len(word) > short || sorted(word) == sorted(name) {
				return name
			}
		}
	}
	return ""
}

// sorted returns the letters of a word in the order of their codes.
func sorted(word string) string {
	letters := []byte(strings.ToLower(word))
	slices.Sort(letters)
	return string(letters)
}
