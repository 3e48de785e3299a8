package importaccuracy

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// hide makes a repository with the history of HEAD, whose messages have no trailers of the record.
// It has no other objects and refs. The result maps each commit to the one without trailers.
func hide(repo, hidden *testkit.Repo) map[string]string {
	renamed := map[string]string{}
	last := ""
	for old := range strings.FieldsSeq(repo.Git("rev-list", "--topo-order", "--reverse", "HEAD")) {
		head, message, _ := strings.Cut(repo.Git("cat-file", "commit", old)+"\n", "\n\n")
		fields := strings.Split(head, "\n")
		for i, field := range fields {
			if parent, ok := strings.CutPrefix(field, "parent "); ok {
				fields[i] = "parent " + renamed[parent]
			}
		}
		last = repo.GitInput(strings.Join(fields, "\n")+"\n\n"+withoutTrailers(message), "hash-object", "-t", "commit", "-w", "--stdin")
		renamed[old] = last
	}
	hidden.Git("init", "-q", "-b", "main", hidden.Dir)
	// An object may be missing, as in the source.
	repo.Sh("git rev-list --objects --missing=allow-any " + last + " | cut -d ' ' -f 1 | git pack-objects -q --stdout > ../pack")
	hidden.Sh("git index-pack --stdin < ../pack")
	hidden.Git("update-ref", "refs/heads/main", last)
	hidden.Git("read-tree", "HEAD")
	hidden.TryGit("checkout-index", "-a", "-f", "-q") // all files whose objects are there
	return renamed
}

// withoutTrailers removes the lines of the record from a commit's message.
func withoutTrailers(message string) string {
	kept := slices.DeleteFunc(strings.Split(message, "\n"), func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "Entire-") })
	return strings.TrimRight(strings.Join(kept, "\n"), "\n") + "\n"
}

// trailers returns the ids in the messages of the history, by commit.
func trailers(repo *testkit.Repo) map[string][]string {
	ids := map[string][]string{}
	pattern := regexp.MustCompile(`(?m)^Entire-Checkpoint: ([0-9a-f]{12})\s*$`)
	for record := range strings.SplitSeq(repo.Git("log", "-z", "--format=%H%n%B", "HEAD"), "\x00") {
		oid, message, _ := strings.Cut(record, "\n")
		for _, found := range pattern.FindAllStringSubmatch(message, -1) {
			ids[oid] = append(ids[oid], found[1])
		}
	}
	return ids
}

// renamer replaces ids of commits in a text.
type renamer struct {
	old     []string // sorted
	renamed map[string]string
	word    *regexp.Regexp
}

func newRenamer(renamed map[string]string) renamer {
	r := renamer{renamed: renamed, word: regexp.MustCompile(`(\\[nrt]|\b)([0-9a-f]{7,40})\b`)}
	for old := range renamed {
		r.old = append(r.old, old)
	}
	slices.Sort(r.old)
	return r
}

// replace replaces each word that is the beginning of exactly one commit by as much of the new one.
func (r renamer) replace(text string) string {
	return r.word.ReplaceAllStringFunc(text, func(found string) string {
		parts := r.word.FindStringSubmatch(found)
		escape, id := parts[1], parts[2]
		at, _ := slices.BinarySearch(r.old, id)
		if at == len(r.old) || !strings.HasPrefix(r.old[at], id) || at+1 < len(r.old) && strings.HasPrefix(r.old[at+1], id) {
			return found
		}
		return escape + r.renamed[r.old[at]][:len(id)]
	})
}

// textFiles lists the files of HEAD that can be blamed.
func textFiles(repo *testkit.Repo) []string {
	var paths []string
	for entry := range strings.SplitSeq(repo.Git("ls-tree", "-r", "-z", "HEAD"), "\x00") {
		meta, path, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if !ok || fields[1] != "blob" {
			continue
		}
		switch filepath.Ext(path) {
		case ".png", ".ico", ".gif", ".jpg":
		default:
			paths = append(paths, path)
		}
	}
	return paths
}
