package access

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// Command is the state that the commands of stores share, both of `agentfs ...` and of `entire fs
// ...`.
type Command struct {
	*app.App

	Program     string // as the user calls it
	Store       string
	JSON, Force bool
	OwnFirst    bool // a repository's own store takes precedence over a .agentfs
	Quiet       bool // in a hook: prints only errors
}

// ExitStatus is the end of the help of every command of stores.
const ExitStatus = `

EXIT STATUS
  0    done
  1    failure
  2    wrong usage, a question that nobody can answer, $HOME or / as a store
  3    no such store, or none selected
  4    no such version
  5    the store is closed, or its folder isn't there
  130  interrupted`

// Run returns the RunE of a command: it calls do and explains its error.
func (c *Command) Run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return c.Explain(do(cmd.Context(), args))
	}
}

// ShellWord quotes text for a shell, if it needs quotes.
func ShellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// NewTable returns a table with wider gaps than those of package ui; cut is [ui.Table.Cut].
func NewTable(cut string) *ui.Table { return &ui.Table{First: 3, Gap: 4, Cut: cut} } //nolint:mnd // as in other versions

// PrintJSON prints v as JSON on one line, with < and > as they are.
func (c *Command) PrintJSON(v any) error {
	return c.Streams.JSONLine(v)
}

// PrintJSONList prints a list like PrintJSON, each entry before the next is read.
func (c *Command) PrintJSONList(l ui.JSONList) error {
	return c.Streams.JSONListLine(l)
}

// Say prints a stage or a result. With --json it prints nothing.
func (c *Command) Say(format string, args ...any) {
	if !c.JSON {
		c.Streams.Printf(format+"\n", args...)
	}
}

// YesNoWord returns a boolean for a table.
func YesNoWord(is bool) string {
	if is {
		return "Yes"
	}
	return "No"
}
