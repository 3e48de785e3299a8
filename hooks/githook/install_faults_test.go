//go:build faults

package githook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/githook"
)

// TestFailingWriteLeavesWorkingHooks: a failing write leaves working hooks, and never a hook
// that writes trailers without the one that processes them. The next installation completes the
// work, and uninstalling restores everything.
func TestFailingWriteLeavesWorkingHooks(t *testing.T) { //nolint:paralleltest // the fault is the process's
	for _, where := range []string{
		"hooks/post-rewrite", "hooks/post-commit", "hooks/commit-msg.pre-entire", "hooks/commit-msg",
		"hooks/prepare-commit-msg", ".git/config", "entire/hooks",
	} {
		for _, redirected := range []bool{false, true} {
			t.Run(where, func(t *testing.T) {
				b := newBox(t)
				folder := ".git/hooks/"
				if redirected {
					folder = "theirs/"
					b.Git("config", "core.hooksPath", "theirs")
				}
				b.executable(folder+"commit-msg", logging("theirs"))
				b.roundTrip(func(githook.Report) {})
				t.Setenv("ENTIRE_FAULT", "fail:1:"+where)
				_, failed := b.installer().Install(t.Context())
				t.Setenv("ENTIRE_FAULT", "")
				awaitScripts()
				ran := b.logOf(func() { b.Git("commit", "-q", "--allow-empty", "-m", "x") })
				if count(ran, "theirs 1") != 1 {
					t.Errorf("%v: their hook ran not once: %v", failed, ran)
				}
				if count(ran, "entire prepare-commit-msg") > count(ran, "entire post-commit") {
					t.Errorf("%v: a trailer without its checkpoint: %v", failed, ran)
				}
				b.install()
				b.wantCommit("entire prepare-commit-msg", "theirs 1", "entire commit-msg", "entire post-commit")
				b.uninstall()
				if diff := cmp.Diff([]string{"theirs 1"}, b.logOf(func() { b.Git("commit", "-q", "--allow-empty", "-m", "x") })); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func count(list []string, what string) int {
	n := 0
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}
