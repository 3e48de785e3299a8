package git

import (
	"bytes"
	"context"
	"strings"
)

// PatchIDs returns git's patch ids of commits, which identify a change independent of its base.
// Merges and empty commits have none.
func PatchIDs(ctx context.Context, r *Repo, commits []OID) (map[OID]string, error) {
	ids := make(map[OID]string, len(commits))
	if len(commits) == 0 {
		return ids, nil
	}
	var list strings.Builder
	for _, oid := range commits {
		list.WriteString(string(oid) + "\n")
	}
	patches, err := r.Do(ctx, Command{
		Args:  []string{"diff-tree", "--stdin", "-p", "--root", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--binary"},
		Stdin: strings.NewReader(list.String()),
	})
	if err != nil {
		return nil, err
	}
	out, err := r.Do(ctx, Command{Args: []string{"patch-id", "--stable"}, Stdin: bytes.NewReader(patches)})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if id, commit, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			ids[OID(commit)] = id
		}
	}
	return ids, nil
}
