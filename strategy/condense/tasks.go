package condense

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// maxTaskBlob is the size of a file beyond which a task goes without it.
const maxTaskBlob = 95 << 20

// tasks returns the session's task checkpoints since its last commit, where the
// strategy keeps them with the checkpoint of the commit. They are redacted once
// more: another version of the tool doesn't do it on shadow branches.
func (co *Condenser) tasks(ctx context.Context, s *session.State) ([]gittree.Edit, error) {
	if co.Options.Strategy != workspace.AutoCommit {
		return nil, nil
	}
	tree, err := co.files.ShadowTree(ctx, s)
	if err != nil {
		return nil, err
	}
	files, err := checkpoint.Tasks(ctx, co.Repo, tree, s.ID)
	if err != nil {
		return nil, err
	}
	kept := files[:0]
	for _, f := range files {
		object, err := co.Repo.Read(ctx, string(f.OID))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Path, err)
		}
		if len(object.Data) > maxTaskBlob {
			co.Log.WarnContext(ctx, "task file left out", "session_id", s.ID, "bytes", len(object.Data))
			continue
		}
		clean, err := co.redactFile(ctx, object.Data)
		if err != nil {
			return nil, fmt.Errorf("redact %s: %w", f.Path, err)
		}
		if !bytes.Equal(clean, object.Data) {
			if f.OID, err = co.Repo.WriteBlob(clean); err != nil {
				return nil, fmt.Errorf("write %s: %w", f.Path, err)
			}
		}
		kept = append(kept, f)
	}
	return kept, nil
}

// redactFile redacts a file of JSON, or of lines of it.
func (co *Condenser) redactFile(ctx context.Context, data []byte) (_ []byte, err error) {
	lines := bytes.Split(data, []byte("\n"))
	if json.Valid(data) {
		lines = [][]byte{data}
	}
	for i, line := range lines {
		if lines[i], err = co.Redact.LineContext(ctx, line); err != nil {
			return nil, err
		}
	}
	return bytes.Join(lines, []byte("\n")), nil
}
