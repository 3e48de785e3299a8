package checkpoint

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// RulesMessage is the message of the commit on the metadata branch that raises RedactionRules.
const RulesMessage = "Raise the redaction rules of checkpoints\n"

// RaiseRules sets the sessions' RedactionRules, where it is lower, in those of the checkpoints that
// are in v1Tree unchanged. It returns the new tree and the number of changed checkpoints. What can't
// be read stays as it is. Only objects are written.
func RaiseRules(ctx context.Context, repo *git.Repo, v1Tree git.OID, checkpoints []Located, rules int) (tree git.OID, n int, err error) {
	defer func() {
		if err != nil {
			tree, n, err = "", 0, fmt.Errorf("raise redaction rules: %w", err)
		}
	}()
	located, err := Locate(ctx, repo, v1Tree)
	if err != nil {
		return "", 0, err
	}
	these := make(map[Located]bool, len(checkpoints))
	for _, c := range checkpoints {
		these[c] = true
	}
	located = slices.DeleteFunc(located, func(c Located) bool { return !these[c] })
	var edits []git.TreeEdit
	for part := range slices.Chunk(located, readTogether) {
		from, err := prefetch(ctx, repo, part, nil)
		if err != nil {
			return "", 0, err
		}
		for _, c := range part {
			d, err := directoryUnless(ctx, from, c.Dir, func(error) bool { return ctx.Err() == nil })
			if ctx.Err() != nil {
				return "", 0, ctx.Err()
			}
			before := len(edits)
			for _, s := range d.slots {
				if err != nil || s.meta.RedactionRules >= rules || session.CheckID(s.meta.SessionID) != nil {
					continue
				}
				s.meta.RedactionRules = rules
				data, err := s.meta.encode()
				if err != nil {
					return "", 0, err
				}
				oid, err := WriteBlob(repo, data)
				if err != nil {
					return "", 0, err
				}
				edits = append(edits, git.TreeEdit{Path: c.ID.Dir() + "/" + s.name() + "/" + metadataFile, Mode: git.ModeFile, OID: oid})
			}
			if len(edits) > before {
				n++
			}
		}
	}
	tree, err = git.EditTree(ctx, repo, v1Tree, edits)
	return tree, n, err
}
