package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// cobra's templates are not used: with text/template in the program the linker keeps every exported
// method, 3.5 MB in each process.

func init() { //nolint:gochecknoinits // cobra has no other way
	cobra.EnableCommandSorting = false // commands are listed in the order of the code
}

// printHelp prints the summary of a command, its examples, its text and its usage. It wraps them to
// the width of the terminal, and starts a pager if they are longer.
func printHelp(a *app.App, cmd *cobra.Command) {
	var b strings.Builder
	columns := a.Streams.Columns()
	b.WriteString(cmd.Short + "\n")
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + cmd.Example + "\n")
	}
	if names := cmd.Annotations[formerly]; names != "" {
		b.WriteString("\nThis is a former name: see " + names + ".\n")
	}
	if cmd.Long != "" {
		b.WriteString("\n" + reflow(strings.TrimRightFunc(cmd.Long, unicode.IsSpace), columns) + "\n")
	}
	if cmd.Runnable() || cmd.HasSubCommands() {
		b.WriteString("\n" + usageText(cmd, columns))
	}
	a.Page(b.String())
}

// helpColumns is the width for which the texts of commands are written.
const helpColumns = 80

// reflow joins the lines of each paragraph, so that they can be wrapped for a terminal that is
// narrower than helpColumns. Indented lines and tables keep their lines.
func reflow(text string, columns int) string {
	if columns == 0 || columns >= helpColumns {
		return text
	}
	var b, rows strings.Builder
	joins := func(line string) bool { return line != "" && line[0] != ' ' && line != "EXIT STATUS" }
	last := ""
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case b.Len() == 0:
		case joins(line) && joins(last):
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
		b.WriteString(line)
		last = line
	}
	for line := range strings.Lines(b.String()) {
		// Wrap the last column of a table row.
		gap := strings.LastIndex(line, "  ")
		if gap < 0 || strings.TrimSpace(line[:gap]) == "" {
			rows.WriteString(line)
			continue
		}
		gap += len("  ")
		rows.WriteString(line[:gap] + hanging(line[gap:], gap, columns))
	}
	return rows.String()
}

// hanging wraps a text that begins at column indent, and indents its other lines to there.
func hanging(text string, indent, columns int) string {
	const least = 16
	if columns-indent < least {
		return text
	}
	body, newline := strings.CutSuffix(text, "\n")
	body = strings.ReplaceAll(ui.Wrap(body, columns-indent), "\n", "\n"+strings.Repeat(" ", indent))
	if newline {
		body += "\n"
	}
	return body
}

// usageText returns the usage of a command, its subcommands and its flags, wrapped to columns; 0
// doesn't wrap.
func usageText(cmd *cobra.Command, columns int) string {
	var b strings.Builder
	local, inherited := cmd.LocalFlags(), cmd.InheritedFlags() // the use line depends on both
	if cmd.HasParent() {
		inherited = ownOf(cmd, inherited)
	}
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		command := cmd.CommandPath() + " <command>"
		if cmd.HasParent() && cmd.Runnable() && cmd.Args != nil && cmd.Args(cmd, []string{"x"}) == nil {
			use += "\n  " + command
		} else {
			use = command
		}
	}
	b.WriteString("Usage:\n  " + use + "\n")
	for _, g := range cmd.Groups() {
		b.WriteString("\n" + g.Title + commandList(cmd, g.ID, columns) + "\n")
	}
	if cmd.HasAvailableSubCommands() && !cmd.AllChildCommandsHaveGroup() {
		title := "Commands:"
		if len(cmd.Groups()) > 0 {
			title = "Other:"
		}
		b.WriteString("\n" + title + commandList(cmd, "", columns) + "\n")
	}
	if local.HasAvailableFlags() {
		b.WriteString("\nFlags:\n" + strings.TrimRightFunc(local.FlagUsagesWrapped(columns), unicode.IsSpace) + "\n")
	}
	if inherited.HasAvailableFlags() {
		b.WriteString("\nFlags of " + cmd.Parent().CommandPath() + ":\n" + strings.TrimRightFunc(inherited.FlagUsagesWrapped(columns), unicode.IsSpace) + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n`" + cmd.CommandPath() + " <command> --help` describes a command.\n")
		if !cmd.HasParent() && hasWorkflows(cmd) {
			b.WriteString("`entire help workflows` shows how they go together, `entire help --all` lists all commands.\n")
		}
	}
	return b.String()
}

// ownOf returns those of the inherited flags that are not flags of every command: the help of the
// program lists these.
func ownOf(cmd *cobra.Command, inherited *pflag.FlagSet) *pflag.FlagSet {
	own := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	inherited.VisitAll(func(f *pflag.Flag) {
		if !hasWorkflows(cmd.Root()) || cmd.Root().PersistentFlags().Lookup(f.Name) == nil {
			own.AddFlag(f)
		}
	})
	return own
}

// allCommands lists every command with its own ones, and the former names of commands.
func allCommands(root *cobra.Command) string {
	var b strings.Builder
	var list func(cmd *cobra.Command)
	row := func(name, short string) {
		const width = 28
		fmt.Fprintf(&b, "  %-*s %s\n", width, name, short)
	}
	list = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && sub.Name() != "help" {
				row(sub.CommandPath(), sub.Short)
				list(sub)
			}
		}
	}
	list(root)
	var programs, former strings.Builder
	for _, cmd := range root.Commands() {
		if names := cmd.Annotations[formerly]; names != "" {
			fmt.Fprintf(&former, "  %-28s is %s\n", cmd.CommandPath(), names)
		} else if cmd.Hidden {
			fmt.Fprintf(&programs, "  %-28s %s\n", cmd.CommandPath(), cmd.Short)
		}
	}
	return "Commands:\n" + b.String() + "\nFor programs and shells:\n" + programs.String() + "\nFormer names, which still work:\n" + former.String()
}

// commandList returns a line for each command of a group, each after a line break.
func commandList(cmd *cobra.Command, group string, columns int) string {
	var b strings.Builder
	for _, c := range cmd.Commands() {
		if c.GroupID == group && c.IsAvailableCommand() {
			fmt.Fprintf(&b, "\n  %-*s %s", c.NamePadding(), c.Name(), hanging(c.Short, c.NamePadding()+len("   "), columns))
		}
	}
	return b.String()
}

// workflows describes five uses of the program that take several commands each.
const workflows = `Record a day's work
  entire enable --agent claude-code    once in each repository
  entire enable --global               or once for every repository on this machine
  claude                               work and commit as usual
  entire status                        what is recorded, and what the next commit would be linked to
  entire show HEAD                     what was asked, said and done for the commit

Undo a turn
  entire rewind                        choose a moment, and see what would change
  entire rewind last --preview         to before the last turn
  entire rewind v12 --paths src        only one folder
  entire undo                          undo the rewind

Continue after /clear, tomorrow, or on another machine
  entire recall                        what the next session will get
  entire recall save -m "the tests of the parser fail"
  entire log --sessions                all sessions
  entire resume 3f9a                   continue one of them
  entire resume main                   the session behind a branch's last commit

Share the record with a team
  entire config push_remote origin     each git push also sends checkpoints there
  entire config trust                  needed after enable --global, once for each remote
  entire fetch                         fetch what colleagues recorded
  entire resume feature                continue a colleague's session on a branch

Keep secrets out, and free disk space
  entire redact check .env             what would be masked
  entire forget --text -               remove recorded text everywhere
  entire snapshot du                   disk usage of snapshots
  entire clean                         records that are no longer needed
`

// hasWorkflows reports whether root is the program that the workflows describe.
func hasWorkflows(root *cobra.Command) bool { return root.Name() == "entire" }

func newHelpCmd(a *app.App) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:               "help [command | workflows]",
		Short:             "Show help for a command, or how commands go together",
		Annotations:       map[string]string{app.WorksDisabled: "yes"},
		ValidArgsFunction: completeTopic,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if (all || slices.Equal(args, []string{"all"})) && hasWorkflows(root) {
				a.Page(allCommands(root))
				return nil
			}
			if slices.Equal(args, []string{"workflows"}) && hasWorkflows(root) {
				a.Page(reflow(workflows, a.Streams.Columns()))
				return nil
			}
			about, rest, err := root.Find(args)
			if err != nil || about == nil || len(rest) > 0 {
				return app.Usagef("unknown help topic %q", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list all commands, subcommands and former names")
	return cmd
}

// completeTopic completes the names of commands, and the other help topics.
func completeTopic(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var topics []string
	for _, c := range about.Commands() {
		if c.IsAvailableCommand() {
			topics = append(topics, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	if !about.HasParent() && hasWorkflows(about) {
		topics = append(topics, cobra.CompletionWithDesc("workflows", "Show how commands go together"))
	}
	return topics, cobra.ShellCompDirectiveNoFileComp
}
