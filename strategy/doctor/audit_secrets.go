package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/redact"
)

// search searches all files that are in this clone for secrets. It reads files sequentially and
// searches them concurrently.
func (a *audit) search(ctx context.Context) error {
	var lock sync.Mutex // guards result
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range a.files {
		object, err := a.Repo.ReadWithin(ctx, string(f.oid), checkpoint.MaxBlob)
		if errors.Is(err, git.ErrTooMuch) {
			lock.Lock()
			a.found(f.namedCheckpoint, f.path, Finding{Code: NotExamined, Severity: Warning, What: "too large to search for secrets"})
			lock.Unlock()
			continue
		}
		if err != nil {
			return errors.Join(fmt.Errorf("read %s of checkpoint %s: %w", f.path, f.id, err), g.Wait())
		}
		g.Go(func() error {
			secrets, err := a.secretsIn(ctx, f.path, object.Data)
			if err != nil {
				return err
			}
			lock.Lock()
			defer lock.Unlock()
			a.result.Files++
			a.result.Bytes += f.size
			if a.Progress != nil {
				a.Progress(int64(a.order[f.id])+1, int64(len(a.names)))
			}
			if len(secrets) > 0 {
				var rules []string
				for _, s := range secrets {
					if !slices.Contains(rules, s.Rule) {
						rules = append(rules, s.Rule)
					}
				}
				a.found(f.namedCheckpoint, f.path, Finding{
					Code: UnmaskedSecret, Severity: Error, What: plain.Plural(len(secrets), "secret") + " that the current rules mask: " + some(rules),
					Why:  "it was recorded under older rules or by another program, and everyone with access to the branch can read it",
					Hint: "revoke the secret, then remove it: entire forget --text - <file-with-the-secret",
				})
				a.result.Problems[len(a.result.Problems)-1].Secrets = secrets
			}
			return nil
		})
	}
	return g.Wait()
}

// secretsIn returns the secrets that the current rules mask in a file of a checkpoint. Lines of
// transcripts and JSON documents are searched string by string, as in redaction.
func (a *audit) secretsIn(ctx context.Context, path string, data []byte) ([]Secret, error) {
	r := a.Redact
	if !strings.Contains(path, ".json") {
		hits, err := r.CheckTextContext(ctx, string(data))
		return placed(nil, hits, data, 1), err
	}
	if !strings.Contains(path, ".jsonl") {
		if strings.HasSuffix(path, "metadata.json") {
			data = checkpoint.HidePrints(data)
		}
		hits, err := r.CheckLineContext(ctx, data)
		return unescaped(placed(nil, hits, data, 1)), err
	}
	var secrets []Secret
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if a.clean.has(line) {
			continue
		}
		hits, err := r.CheckLineContext(ctx, line)
		if err != nil {
			return nil, err
		}
		if len(hits) == 0 {
			a.clean.add(line)
		}
		secrets = placed(secrets, hits, line, n)
	}
	return unescaped(secrets), nil
}

// unescaped returns the secrets in JSON with their texts as the strings have them.
func unescaped(secrets []Secret) []Secret {
	for i, s := range secrets {
		var text string
		if json.Unmarshal([]byte(`"`+s.Text+`"`), &text) == nil {
			secrets[i].Text = text
		}
	}
	return secrets
}

// cleanLines remembers lines in which no secret was found: each checkpoint of a session has the lines
// of those before. Its methods are safe for concurrent use.
type cleanLines struct {
	seed maphash.Seed

	mu     sync.Mutex // guards hashes
	hashes map[uint64]struct{}
}

func (c *cleanLines) has(line []byte) bool {
	hash := maphash.Bytes(c.seed, line)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, found := c.hashes[hash]
	return found
}

func (c *cleanLines) add(line []byte) {
	const most = 1 << 18 // lines
	hash := maphash.Bytes(c.seed, line)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hashes == nil || len(c.hashes) == most {
		c.hashes = make(map[uint64]struct{})
	}
	c.hashes[hash] = struct{}{}
}

// placed appends the secrets of hits in a text that begins at a line.
func placed(secrets []Secret, hits []redact.Hit, text []byte, line int) []Secret {
	at := 0
	for _, h := range hits {
		line += bytes.Count(text[at:h.Start], []byte{'\n'})
		at = h.Start
		secrets = append(secrets, Secret{Rule: h.Rule, Line: line, Length: h.End - h.Start, Text: string(text[h.Start:h.End])})
	}
	return secrets
}
