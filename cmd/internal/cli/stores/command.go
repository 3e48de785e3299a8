package stores

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
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
	// Snapshots is set for the commands of entire that work on snapshots of the worktree: they call a
	// version a snapshot, and print JSON with indentation, a list in an object. Others print it on one
	// line, and some lists without an object, as agentfs is specified.
	Snapshots bool
	// Strict is set for commands that make stores: a bad folder of stores in config.toml is an
	// error, and not replaced by the default.
	Strict bool
	late   []string // notes to print when the command has ended
}

// ExitStatus is the end of the help of every command of stores.
const ExitStatus = `

EXIT STATUS
  0    done
  1    failure
  2    wrong usage, no terminal to ask on, or $HOME or / as a store
  3    no such store, or none selected
  4    no such version
  5    the store is closed, or its folder is missing
  130  interrupted`

// Run returns the RunE of a command: it calls do and explains its error. If config.toml has a bad
// value for the folder of stores, or can't be read, do works with the default, and a note names it.
func (c *Command) Run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if !c.Strict {
			c.NoteBadDefaults()
		}
		err := do(cmd.Context(), args)
		for _, note := range c.late {
			c.Streams.Notef("%s", note)
		}
		return c.Explain(err)
	}
}

// RunStrict is Run for a command that makes stores.
func (c *Command) RunStrict(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c.Strict = true
		return c.Run(do)(cmd, args)
	}
}

// NoteBadDefaults has the registry go on with the defaults of config.toml after an error, which is
// noted once.
func (c *Command) NoteBadDefaults() {
	noted := false
	c.OnBadDefaults = func(err error) {
		if !noted {
			noted = true
			c.Streams.Notef("%v: the default applies.", err)
		}
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

// PrintJSON prints v as JSON: with Snapshots indented, else on one line.
func (c *Command) PrintJSON(v any) error { return c.PrintJSONOf(v, "") }

// PrintJSONOf is PrintJSON of an object with a list of that key, which --jsonl prints as lines.
func (c *Command) PrintJSONOf(v any, key string) error {
	if c.Snapshots || c.Streams.Lines {
		return c.Streams.JSONOf(v, key)
	}
	return c.Streams.JSONLine(v)
}

// PrintJSONList prints a list like PrintJSON, each entry before the next is read.
func (c *Command) PrintJSONList(l ui.JSONList) error {
	if c.Snapshots {
		return c.Streams.JSONList(l)
	}
	return c.Streams.JSONListLine(l)
}

// PrintBareList prints a list like PrintJSONList, without Snapshots as the list itself.
func (c *Command) PrintBareList(l ui.JSONList) error {
	if !c.Snapshots {
		l.Key = ""
	}
	return c.PrintJSONList(l)
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
