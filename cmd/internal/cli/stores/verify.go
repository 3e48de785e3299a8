package stores

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSVerifyCmd(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "verify [version]",
		Short: "Verify a checkpoint, or the whole store",
		Long: `Reads all content of a checkpoint, or of the whole store, and compares it with its
hashes. Damaged content is listed with the affected files and versions; everything
else can still be restored. The next checkpoint repairs damage where files are
unchanged. For a volume (init --driver) it reads every file, which the file system
checks.

With --json it prints one object; docs/formats/agentfs.md describes it.` + strings.Replace(ExitStatus, "failure\n", "damage found, or failure\n", 1),
		Example:           "  " + f.Program + " verify" + "\n  " + f.Program + " verify v12",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeVersions(f, 1, ""),
		RunE:              f.Run(func(ctx context.Context, args []string) error { return runFSVerify(ctx, f, args) }),
	}
}

// verifiedJSON is the output of `verify --json`.
type verifiedJSON struct {
	OK       bool             `json:"ok"`
	Records  int64            `json:"records"`
	Bytes    int64            `json:"bytes"`
	Versions []badVersionJSON `json:"versions"`
	Damage   []badRecordJSON  `json:"damage"`
	Deleted  []string         `json:"deleted,omitempty"`
	Hint     string           `json:"hint,omitempty"`
}

type badVersionJSON struct {
	Version string `json:"version"`
	Error   string `json:"error"`
}

type badRecordJSON struct {
	Band   uint32         `json:"band"`
	Offset uint32         `json:"offset"`
	Error  string         `json:"error"`
	Lost   []lostPathJSON `json:"lost"`
}

type lostPathJSON struct {
	Path     string   `json:"path"`
	Bytes    []byte   `json:"path_bytes,omitempty"`
	Versions []string `json:"versions"`
}

func runFSVerify(ctx context.Context, f *Command, args []string) error {
	var v bands.Version
	if len(args) > 0 {
		var err error
		if v, err = parseVersion(args[0]); err != nil {
			return err
		}
	}
	s, err := f.Selected(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if v != 0 {
		if err := s.RequireVersion(v); err != nil {
			return err
		}
	}
	var found verify.Damage
	err = f.Streams.Count("Verifying", func(tick func(done, total int64)) (err error) {
		if s.IsVolume() {
			found, err = verify.RunVolume(ctx, s.Store, v, tick)
			return err
		}
		found, err = verify.Run(ctx, s.Store, v, tick)
		return err
	})
	if err != nil {
		return err
	}
	noted := !s.IsVolume() && noteDamage(ctx, s, v, found)
	report := verifiedJSON{
		OK: found.OK(), Records: found.Records, Bytes: found.Bytes, Versions: []badVersionJSON{}, Damage: []badRecordJSON{},
		Deleted: versionTexts(found.Deleted),
	}
	for _, bad := range found.Versions {
		report.Versions = append(report.Versions, badVersionJSON{Version: bad.Version.String(), Error: bad.Err.Error()})
	}
	for _, bad := range found.Bad {
		lost := make([]lostPathJSON, 0, len(bad.Lost))
		for _, p := range bad.Lost {
			lost = append(lost, lostPathJSON{Path: p.Path, Bytes: format.PathBytes(p.Path), Versions: versionTexts(p.Versions)})
		}
		report.Damage = append(report.Damage, badRecordJSON{Band: bad.Band, Offset: bad.Offset, Error: bad.Err.Error(), Lost: lost})
	}
	if noted && len(found.Bad) > 0 {
		report.Hint = repairHint(f)
	}
	if f.JSON {
		if err := f.PrintJSON(report); err != nil {
			return err
		}
	} else {
		for _, gone := range found.Deleted {
			f.Streams.Notef("%s was deleted meanwhile", gone)
		}
		f.PageText(func(w ui.Streams) { printDamage(w, found) })
		if !found.OK() {
			f.Streams.Notef("%s read. Everything else can be restored.", checked(s, found.Records))
		}
		if report.Hint != "" {
			f.Streams.Notef("hint: %s", report.Hint)
		}
	}
	if !found.OK() {
		return app.ErrFailed
	}
	name := "store '" + s.Entry.Name + "'"
	if v != 0 {
		name = v.String()
	}
	f.Say("Verified %s: %s, %s, nothing is damaged", name, checked(s, found.Records), format.Size(found.Bytes))
	return nil
}

// noteDamage records the damage, so that the next snapshots repair it, and reports whether they
// will. It doesn't record it if the store can't be written or is in use.
func noteDamage(ctx context.Context, s *Selection, v bands.Version, found verify.Damage) bool {
	had, err := s.Damaged()
	clean := found.OK() && v == 0
	if err == nil && len(found.Bad) == 0 && (!clean || len(had) == 0) {
		return true
	}
	held, err := s.HoldLock(ctx, LockWait)
	if err != nil {
		return false
	}
	if clean {
		err = held.ClearDamage()
	} else {
		err = held.NoteDamage(found.Damaged())
	}
	return errors.Join(err, held.Release()) == nil
}

// repairHint returns the hint on the repair of damaged records.
func repairHint(f *Command) string {
	return "the next " + f.noun() + " reads the whole tree, and repairs damage where files are unchanged: `" + f.call("checkpoint create") + "`, then `" + f.call("verify") + "`"
}

// checked returns the number of records, or of files of a volume, that were read.
func checked(s *Selection, n int64) string {
	if s.IsVolume() {
		return ui.Plural(int(n), "file")
	}
	return ui.Plural(int(n), "record")
}

func versionTexts(list []bands.Version) []string {
	texts := make([]string, 0, len(list))
	for _, v := range list {
		texts = append(texts, v.String())
	}
	return texts
}

func printDamage(w ui.Streams, found verify.Damage) {
	for _, bad := range found.Versions {
		w.Printf("%s can't be read: %v\n", bad.Version, bad.Err)
	}
	for _, bad := range found.Bad {
		w.Printf("Damaged: %v\n", bad.Err)
		for _, lost := range bad.Lost {
			const most = 5
			versions := versionTexts(lost.Versions)
			more := ""
			if n := len(versions) - most; n > 0 {
				versions, more = versions[:most], fmt.Sprintf(" and %d more", n)
			}
			w.Printf("  lost: %s in %s%s\n", format.Path(lost.Path), strings.Join(versions, ", "), more)
		}
	}
}
