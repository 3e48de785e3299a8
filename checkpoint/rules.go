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
// are in v1Tree, a tree of the metadata branch or of ImportedRef, unchanged. It returns the new tree and the number of changed checkpoints. What can't
// be read stays as it is. Only objects are written.
func RaiseRules(ctx context.Context, repo *git.Repo, v1Tree git.OID, checkpoints []Located, rules int) (tree git.OID, n int, err error) {
	defer func() {
		if err != nil {
			tree, n, err = "", 0, fmt.Errorf("raise redaction rules: %w", err)
		}
	}()
	located, err := locateInTree(ctx, repo, v1Tree)
	if err != nil {
		return "", 0, err
	}
	type version struct {
		id  ID
		dir git.OID
	}
	these := make(map[version]bool, len(checkpoints))
	for _, c := range checkpoints {
		these[version{c.ID, c.Dir}] = true
	}
	located = slices.DeleteFunc(located, func(c Located) bool { return !these[version{c.ID, c.Dir}] })
	var edits []git.TreeEdit
	for part := range slices.Chunk(located, readTogether) {
		from, err := prefetch(ctx, repo, part, nil)
		if err != nil {
			return "", 0, err
		}
		for _, c := range part {
			raised, err := raiseRules(ctx, from, c.Dir, rules)
			if err != nil {
				return "", 0, err
			}
			if len(raised) > 0 {
				n++
			}
			for _, edit := range raised {
				edit.Path = c.ID.Dir() + "/" + edit.Path
				edits = append(edits, edit)
			}
		}
	}
	tree, err = git.EditTree(ctx, repo, v1Tree, edits)
	return tree, n, err
}

// RaiseRulesOf is RaiseRules for one checkpoint; it returns its new directory.
func RaiseRulesOf(ctx context.Context, repo *git.Repo, at Present, rules int) (git.OID, error) {
	edits, err := raiseRules(ctx, source{repo: repo}, at.Dir, rules)
	if err != nil || len(edits) == 0 {
		return at.Dir, err
	}
	return git.EditTree(ctx, repo, at.Dir, edits)
}

// raiseRules returns the edits of a checkpoint's directory that raise the rules of its sessions.
func raiseRules(ctx context.Context, from source, dir git.OID, rules int) (edits []git.TreeEdit, err error) {
	d, unread := directoryUnless(ctx, from, dir, func(error) bool { return ctx.Err() == nil })
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, s := range d.slots {
		if unread != nil || s.meta.RedactionRules >= rules || session.CheckID(s.meta.SessionID) != nil {
			continue
		}
		s.meta.RedactionRules = rules
		data, err := s.meta.encode()
		if err != nil {
			return nil, err
		}
		oid, err := WriteBlob(from.repo, data)
		if err != nil {
			return nil, err
		}
		edits = append(edits, git.TreeEdit{Path: s.name() + "/" + metadataFile, Mode: git.ModeFile, OID: oid})
	}
	return edits, nil
}
