package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/cli/app"
)

// helpTemplate shows what a command is for, its examples, its text, and its usage.
const helpTemplate = `{{.Short}}
{{if .Example}}
Examples:
{{.Example}}
{{end}}{{with .Long}}
{{. | trimTrailingWhitespaces}}
{{end}}{{if or .Runnable .HasSubCommands}}
{{.UsageString}}{{end}}`

// usageTemplate is cobra's without the examples, which come first.
const usageTemplate = `Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} <command>{{else}}
  {{.UseLine}}{{end}}
{{$all := .Commands}}{{range $group := .Groups}}
{{.Title}}{{range $all}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{if and .HasAvailableSubCommands (not .AllChildCommandsHaveGroup)}}
{{if .Groups}}Other:{{else}}Commands:{{end}}{{range $all}}{{if and (eq .GroupID "") .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableInheritedFlags}}
Flags of {{.Parent.CommandPath}}:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}{{if .HasAvailableSubCommands}}
` + "`{{.CommandPath}} <command> --help` describes a command." + `{{if not .HasParent}}
` + "`{{.CommandPath}} help workflows` shows how they go together." + `{{end}}
{{end}}`

// workflows are five uses of the program, of several commands each.
const workflows = `Record a day's work
  entire enable --agent claude-code    once in each repository
  claude                               work as always, and commit with git as always
  entire status                        what is recorded, and what the next commit takes
  entire explain --commit HEAD         what was asked, said and done for the commit

Take a turn back
  entire rewind                        choose a moment, see what would change
  entire rewind --to "10 minutes ago" --preview
  entire rewind --to v12 --paths src   only a folder
  entire rewind --undo                 take the rewind back

Continue after /clear, tomorrow, or on another machine
  entire recall                        what the next session will be given
  entire recall save --summary "the tests of the parser fail"
  entire resume main                   continue the session behind a branch's last commit

Share the record with a team
  entire config set push_remote origin --user
                                       each git push sends the checkpoints there, too
  entire explain --commit HEAD --fetch get what a colleague recorded
  entire resume feature                continue a colleague's session on a branch

Keep secrets out, and room free
  entire redact check .env             what would be masked
  entire forget --text -               remove what was recorded, everywhere
  entire fs du                         how much room snapshots take
  entire clean                         what nothing needs any more
`

func newHelpCmd(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:         "help [command | workflows]",
		Short:       "Show help for a command, or how commands go together",
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if slices.Equal(args, []string{"workflows"}) && root.Name() == "entire" {
				a.Streams.Printf("%s", workflows)
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
}
