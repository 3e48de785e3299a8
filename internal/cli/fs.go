package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// fsApp is what the commands of stores share: `agentfs ...`, and the same as
// `entire fs ...`.
type fsApp struct {
	*app

	program     string // as the user calls it
	store       string
	json, force bool
	ownFirst    bool // a repository's own store comes before a .agentfs
	quiet       bool // in a hook: only errors are worth a word
}

// fsExitStatus ends the help of every command of stores.
const fsExitStatus = `

EXIT STATUS
  0    done
  1    failure
  2    wrong usage, a question that nobody can answer, $HOME or / as a store
  3    no such store, or none selected
  4    no such version
  5    the store is closed, or its folder isn't there
  130  interrupted`

// newFSCmd is `entire fs`.
func newFSCmd(a *app) *cobra.Command {
	cmd := (&fsApp{app: a, program: "entire fs", ownFirst: true}).tree("fs")
	cmd.Annotations = map[string]string{worksDisabled: "yes"}
	return cmd
}

// newAgentFSCmd is agentfs.
func newAgentFSCmd(a *app) *cobra.Command {
	root := (&fsApp{app: a, program: "agentfs"}).tree("agentfs")
	root.PersistentPreRun = func(*cobra.Command, []string) { a.running = true }
	a.dress(root)
	root.AddCommand(newVersionCmd(a))
	return root
}

// tree is all commands of stores below one with the name given.
func (f *fsApp) tree(name string) *cobra.Command {
	order := `A command works on the store of --store, else on the one that a file .agentfs
in this folder or above names, else on this repository's own.`
	if f.ownFirst {
		order = `A command works on the store of --store, else on this repository's own, else on
the one that a file .agentfs in this folder or above names.`
	}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Keep snapshots of whole trees, and bring them back",
		Long: `Keeps snapshots of a whole project, tracked, untracked and ignored files alike,
and brings any of them back. The project stays where it is.

` + order + ` A .agentfs
counts if it is the user's own and names a store that was made on this machine;
one with a path only inside of that store's folder.

Start with:
  ` + f.program + ` init myapp
  ` + f.program + ` checkpoint create "before risky refactor"
  ` + f.program + ` restore v1` + fsExitStatus,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.store, "store", "", "work on this store: a name, or a path with a /")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVarP(&f.force, "force", "f", false, "don't ask")
	for _, build := range []func(*fsApp) *cobra.Command{
		newFSInitCmd, newFSOpenCmd, newFSCloseCmd, newFSDeleteCmd, newFSListCmd, newFSUseCmd, newFSStatusCmd,
		newFSManageCmd, newFSUnmanageCmd,
		newFSCheckpointCmd, newFSRestoreCmd, newFSDiffCmd, newFSShowCmd, newFSExportCmd,
		newFSVerifyCmd, newFSUsageCmd, newFSPruneCmd, newFSDoctorCmd,
	} {
		cmd.AddCommand(build(f))
	}
	return cmd
}

// run is a command's function with its errors explained.
func (f *fsApp) run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return f.explain(do(cmd.Context(), args))
	}
}
