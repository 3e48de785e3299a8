//go:build faults

package agenthook_test

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFailingWriteLosesNothing: a failing write leaves a readable file, another attempt
// continues from there, and uninstalling restores every byte, whichever write failed.
func TestFailingWriteLosesNothing(t *testing.T) { //nolint:paralleltest // the fault is the process's
	text := "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}, // why\n  \"hooks\": {\"Stop\": []}\n}\n"
	for _, where := range []string{"settings.json", "claude-", "backup", ".claude", ".mcp.json"} {
		for _, before := range []string{"", text} {
			t.Run(where, func(t *testing.T) {
				s, p := place(t, before), servers(t, before)
				steps := []func() (bool, error){
					func() (bool, error) {
						_, changed, err := s.Install()
						return changed, err
					},
					s.InstallAsking, s.InstallStatusLine, p.Install,
					s.RemoveAsking, s.InstallAsking, s.RemoveStatusLine, s.InstallStatusLine, s.Uninstall, p.Uninstall,
				}
				failures := 0
				for i, step := range steps {
					t.Setenv("ENTIRE_FAULT", "fail:1:"+where)
					_, err := step()
					t.Setenv("ENTIRE_FAULT", "")
					if err != nil {
						failures++
						if !errors.Is(err, syscall.ENOSPC) {
							t.Errorf("step %d: %v", i, err)
						}
					}
					for _, path := range []string{s.Path, p.Path} {
						if data, err := os.ReadFile(path); err == nil {
							value(t, string(data))
						}
					}
					done(t)(step())
				}
				if failures == 0 && where != "backup" {
					t.Error("nothing failed")
				}
				for _, path := range []string{s.Path, p.Path} {
					data, err := os.ReadFile(path)
					if before == "" && !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("left behind: %s", data)
					}
					if diff := cmp.Diff(before, string(data)); diff != "" {
						t.Error(diff)
					}
				}
			})
		}
	}
}
