package sharing

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDryRunSpellings(t *testing.T) {
	t.Parallel()
	dry, quiet := pushCall{DryRun: true}, pushCall{Quiet: true}
	for line, want := range map[string]pushCall{
		"":                                     {},
		"origin main":                          {},
		"-n":                                   dry,
		"--dry-run origin":                     dry,
		"origin main -n":                       dry,
		"-fn origin":                           dry,
		"-nf":                                  dry,
		"-q4n":                                 {DryRun: true, Quiet: true},
		"--dry":                                dry,
		"--dr":                                 dry,
		"--d origin":                           {}, // git refuses it: it may be --delete
		"--no-dry-run -n":                      dry,
		"-n --no-dry":                          {},
		"-n --no-dry-run":                      {},
		"-on origin":                           {},
		"-o -n origin":                         {},
		"-o x -n":                              dry,
		"-fo -n":                               {},
		"-ofn":                                 {},
		"--push-option -n":                     {},
		"--push-option=-n":                     {},
		"--push-option=x -n":                   dry,
		"--no-push-option -n":                  dry,
		"--repo -n":                            {},
		"--repo=x -n":                          dry,
		"--receive-pack -n":                    {},
		"--rec -n origin":                      dry, // git refuses it
		"--recei -n":                           {},
		"--exec -n":                            {},
		"--recurse-submodules -n":              {},
		"--recurse-submodules check --dry-run": dry,
		"--signed -n":                          dry,
		"--force-with-lease -n":                dry,
		"--force-with-lease=a:b -n":            dry,
		"-- -n":                                {},
		"-q":                                   quiet,
		"--quie":                               quiet,
		"-q --verbose":                         {},
		"-qv":                                  {},
	} {
		if diff := cmp.Diff(want, readPush(strings.Fields(line))); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}
