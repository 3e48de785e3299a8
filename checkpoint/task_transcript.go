package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint/segments"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// StoreAgent stores the first size bytes of a subagent's transcript, redacted,
// as blobs of whole lines that other versions can read. What ctx has no time
// for is left out, and a last line notes that.
func StoreAgent(ctx context.Context, repo *git.Repo, redact segments.Redactor, path string, size int64) ([]git.OID, error) {
	var chunks []git.OID
	var text bytes.Buffer
	flush := func() error {
		oid, err := segments.WriteBlob(repo, text.Bytes())
		chunks = append(chunks, oid)
		text.Reset()
		return err
	}
	var done int64
	add := func(line []byte, end int64) error {
		stored, err := segments.RedactLine(ctx, redact, transcript.Stored(line))
		if err != nil {
			return err
		}
		if len(stored) > segments.MaxLine {
			stored = segments.Omitted(len(line))
		}
		if text.Len() > 0 && text.Len()+1+len(stored) > segments.MaxLine {
			if err := flush(); err != nil {
				return err
			}
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.Write(stored)
		done = end
		return nil
	}
	err := transcript.Lines(ctx, path, 0, size, add)
	if errors.Is(err, context.DeadlineExceeded) {
		err = add(segments.Omitted(int(size-done)), size)
	}
	if err == nil && text.Len() > 0 {
		err = flush()
	}
	if err != nil {
		return nil, fmt.Errorf("store transcript of a subagent: %w", err)
	}
	return chunks, nil
}

// AgentTranscript is what a tree has of a subagent's transcript in dir: in a shadow tree
// the value of the trailer with [TaskKey], in [Checkpoint.Tasks] the tool use; empty if
// there is none.
func AgentTranscript(ctx context.Context, repo *git.Repo, tree git.OID, dir string) (segments.Transcript, error) {
	dir = strings.TrimRight(dir, "/")
	entry, found, err := gittree.Lookup(ctx, repo, tree, dir)
	if err != nil || !found || entry.Mode != git.ModeTree {
		return segments.Transcript{}, err
	}
	entries, err := repo.Tree(ctx, entry.OID)
	if err != nil {
		return segments.Transcript{}, fmt.Errorf("read task: %w", err)
	}
	var t segments.Transcript
	name := ""
	for _, e := range entries { // in the order of their names
		file := e.Mode == git.ModeFile || e.Mode == git.ModeExec
		switch {
		case !file:
		case name == "" && strings.HasPrefix(e.Name, "agent-") && strings.HasSuffix(e.Name, ".jsonl"),
			name != "" && e.Name == fmt.Sprintf("%s.%03d", name, len(t.Segments)):
			if name == "" {
				name = e.Name
			}
			t.Segments = append(t.Segments, e.OID)
		}
	}
	return t, nil
}
