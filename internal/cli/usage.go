package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// refusal is what a command line was refused for, in at most three lines: the error,
// what to type instead where that is known, and where the usage is described.
type refusal struct{ text, hint, help string }

// mostTypos is the edit distance up to which a name is suggested.
const mostTypos = 2

// refuse describes an error of wrong usage.
func refuse(cmd *cobra.Command, err error) refusal {
	r := refusal{text: err.Error(), hint: app.HintOf(err), help: fmt.Sprintf("`%s --help` shows how it is used", cmd.CommandPath())}
	noTerminal, isNoTerminal := errors.AsType[*ui.NoTerminalError](err)
	unknownFlag, isUnknownFlag := errors.AsType[*pflag.NotExistError](err)
	switch {
	case isNoTerminal:
		r.text, r.hint, r.help = "can't ask without a terminal: "+noTerminal.Title, "pass "+noTerminal.Flag, ""
	case isUnknownFlag:
		r.hint = suggestFlag(cmd, unknownFlag.GetSpecifiedName())
	case r.hint == "":
		if args := cmd.Flags().Args(); cmd.ValidateArgs(args) != nil {
			r.text, r.hint = refuseArgs(cmd, args)
		} else {
			r.text = refuseGroup(r.text)
		}
	}
	r.text, _, _ = strings.Cut(r.text, "\n")
	return r
}

// refuseArgs describes arguments that a command doesn't take.
func refuseArgs(cmd *cobra.Command, args []string) (text, hint string) {
	_, synopsis, _ := strings.Cut(cmd.Use, " ")
	switch {
	case len(args) == 0 || strings.Contains(synopsis, "> <") && len(args) == 1:
		return "an argument is missing", fmt.Sprintf("type %s %s", cmd.CommandPath(), synopsis)
	case cmd.HasAvailableSubCommands():
		if name := suggestCommand(cmd, args[0]); name != "" {
			hint = fmt.Sprintf("did you mean `%s %s`?", cmd.CommandPath(), name)
		}
		return fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath()), hint
	case synopsis != "":
		hint = fmt.Sprintf("type %s %s", cmd.CommandPath(), synopsis)
	}
	return fmt.Sprintf("%q takes no argument %q", cmd.CommandPath(), args[len(args)-1]), hint
}

// suggestCommand is the command that a word is another name of, else the one whose name is
// most like it, empty if none is.
func suggestCommand(cmd *cobra.Command, word string) string {
	for _, sub := range cmd.Commands() {
		if slices.Contains(sub.SuggestFor, word) {
			return sub.Name()
		}
	}
	return nearest(cmd, word)
}

// nearest is the name of the subcommand that a word is the beginning of or a typo for, empty
// if none is. Of a word of three letters two typos leave too little: its letters must be those
// of the name.
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

// sorted is the letters of a word in the order of their codes.
func sorted(word string) string {
	letters := []byte(strings.ToLower(word))
	slices.Sort(letters)
	return string(letters)
}

// suggestFlag is a hint at the flag whose name is most like one that a command doesn't
// have, empty if none is. cobra's search for commands finds it.
func suggestFlag(cmd *cobra.Command, name string) string {
	flags := &cobra.Command{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}})
	})
	if found := nearest(flags, name); len(name) > 1 && found != "" {
		return fmt.Sprintf("did you mean --%s?", found)
	}
	return ""
}

// refuseGroup makes a sentence of what cobra says of flags that exclude each other, or of
// which one is needed.
func refuseGroup(text string) string {
	if m := regexp.MustCompile(`^if any flags in the group .* \[(.*)\] were all set$`).FindStringSubmatch(text); m != nil {
		return "--" + strings.Join(strings.Fields(m[1]), " and --") + " can't be combined"
	}
	if m := regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required$`).FindStringSubmatch(text); m != nil {
		return "one of --" + strings.Join(strings.Fields(m[1]), ", --") + " is needed"
	}
	return text
}
