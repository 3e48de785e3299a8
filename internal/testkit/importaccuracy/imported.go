package importaccuracy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// imported is the output of `entire import --json`.
type imported struct {
	Sessions []struct {
		Session string   `json:"session"`
		Path    string   `json:"path"`
		State   string   `json:"state"`
		Commits []string `json:"commits"`
	} `json:"sessions"`
	Commits []struct {
		Commit   string   `json:"commit"`
		Sessions []string `json:"sessions"`
		Evidence string   `json:"evidence"`
	} `json:"commits"`
	Unlinked []struct {
		Commit string `json:"commit"`
		Reason string `json:"reason"`
	} `json:"unlinked"`
	Skipped []struct {
		Path   string `json:"path"`
		Reason string `json:"reason"`
	} `json:"skipped"`
}

// IsSupported reports whether the program imports sessions.
func IsSupported(repo *testkit.Repo) bool {
	help := repo.TryEntire("import", "--help")
	return help.Code == 0 && strings.Contains(help.Stdout, "--from")
}

// runImport imports the sessions of the home, of a repository that was at other places before.
func runImport(repo *testkit.Repo, from ...string) imported {
	args := append(make([]string, 0, 2+2*len(from)), "import", "--json") //nolint:mnd // a flag and its value
	for _, folder := range from {
		args = append(args, "--from", folder)
	}
	result := repo.TryEntire(args...)
	var out imported
	if err := json.Unmarshal([]byte(result.Stdout), &out); err != nil || result.Code != 0 {
		repo.TB.Fatalf("entire %s: exit %d, %v\n%.2000s\n%.2000s", strings.Join(args, " "), result.Code, err, result.Stdout, result.Stderr)
	}
	return out
}

// links returns the sessions of each linked commit.
func (i imported) links() map[string][]string {
	links := map[string][]string{}
	for _, c := range i.Commits {
		for _, session := range c.Sessions {
			if session = undated(session); !slices.Contains(links[c.Commit], session) {
				links[c.Commit] = append(links[c.Commit], session)
			}
		}
	}
	return links
}

// reasons returns why commits are not linked.
func (i imported) reasons() map[string]string {
	reasons := map[string]string{}
	for _, u := range i.Unlinked {
		reasons[u.Commit] = u.Reason
	}
	return reasons
}

// evidence returns by what commits were linked.
func (i imported) evidence() map[string]string {
	by := map[string]string{}
	for _, c := range i.Commits {
		by[c.Commit] = c.Evidence
	}
	return by
}
