// Package stores has the commands of the snapshot stores, of `entire fs` and agentfs, and bisect.
package stores

import (
	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
)

// NewFS returns the command `entire fs`.
func NewFS(a *app.App) *cobra.Command {
	cmd := NewTree(&Command{App: a, Program: "entire fs", OwnFirst: true}, "fs")
	cmd.SuggestFor = []string{"checkpoint", "snapshot", "snapshots", "diff", "backup"}
	cmd.Annotations = map[string]string{app.WorksDisabled: "yes"}
	return cmd
}

// NewTree returns a command with a name and all commands of stores below it.
func NewTree(f *Command, name string) *cobra.Command {
	order := `Commands use the store given with --store, or else the one named by a file .agentfs
in this folder or above, or else this repository's own.`
	if f.OwnFirst {
		order = `Commands use the store given with --store, or else this repository's own, or else the
one named by a file .agentfs in this folder or above.`
	}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Keep and restore snapshots of whole trees",
		Long: `Keeps snapshots of a whole project, including untracked and ignored files, and
restores any of them. The project stays where it is.

` + order + ` A .agentfs is
ignored unless it is your own and names a store created on this machine.` + ExitStatus,
		Example: "  " + f.Program + " init myapp\n  " + f.Program + ` checkpoint create "before risky refactor"` + "\n  " + f.Program + " restore v1",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.Store, "store", "", "use this store: a name, or a path with a /")
	setup.Flag(cmd, "store", completeStores(f, true))
	setup.JSONFlag(flags, &f.JSON)
	flags.BoolVarP(&f.Force, "force", "f", false, "don't ask")
	for _, build := range []func(*Command) *cobra.Command{
		newFSInitCmd, newFSOpenCmd, newFSCloseCmd, newFSDeleteCmd, newFSListCmd, newFSUseCmd, newFSStatusCmd,
		newFSManageCmd, newFSUnmanageCmd, newFSConvertCmd,
		newFSCheckpointCmd, newFSRestoreCmd, newFSDiffCmd, newFSShowCmd, newFSExportCmd,
		NewLogCmd, NewTimelineCmd, NewSearchCmd, NewBlameCmd, NewOfStores,
		newFSVerifyCmd, newFSUsageCmd, newFSPruneCmd, newFSDoctorCmd,
	} {
		cmd.AddCommand(build(f))
	}
	return cmd
}
