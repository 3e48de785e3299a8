package proc

import "testing"

func TestIsGit(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]bool{
		"git": true, "/usr/bin/git": true, "/usr/lib/git-core/git-commit": true, "git-rebase": true, "git.exe": true,
		"gitk": false, "/usr/bin/gitui": false, "gitkraken": false, "gitg": false, "sh": false, "": false,
	} {
		if got := isGit(program); got != want {
			t.Errorf("isGit(%q) = %v", program, got)
		}
	}
}
