package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

const (
	damagedCheckpoints = 600
	lostTranscripts    = 70
	badSessions        = 40 // an earlier version is intact
	badSummaries       = 20
)

// damaged measures doctor where many checkpoints are damaged: transcripts are missing, and
// metadata of sessions and of checkpoints can't be decoded.
func damaged(b *bench, rows []*row) {
	h := history{name: "damaged", files: 200, commits: damagedCheckpoints + 1, checkpoints: damagedCheckpoints, talk: 20_000}
	dir := b.enabled(h, "damaged")
	b.damage(dir)
	b.slim()
	for n := range b.runs + 1 {
		v := b.version()
		s, code, output := b.execute(testkit.Call{Dir: dir, Env: b.env, Name: "entire", Args: []string{"doctor"}})
		if code != 1 {
			b.Fatalf("entire doctor: exit status %d instead of 1\n%s", code, output)
		}
		if n > 0 {
			rows[0].add(s, v)
		}
	}
	want := fmt.Sprintf("\n%d problems found", lostTranscripts+badSessions+badSummaries)
	if out, err := os.ReadFile(filepath.Join(b.work, "out")); err != nil || !bytes.Contains(out, []byte(want)) {
		b.Fatalf("doctor did not report all damage, %q: %.2000s", want, out)
	}
	b.Must(os.RemoveAll(dir))
}

// damage damages checkpoints across the history of a repository.
func (b *bench) damage(dir string) {
	const branch = "refs/heads/entire/checkpoints/v1"
	var checkpoints []string // their directories
	for path := range strings.FieldsSeq(b.git(dir, "ls-tree", "-r", "--name-only", branch)) {
		if checkpoint, ok := strings.CutSuffix(path, "/0/metadata.json"); ok {
			checkpoints = append(checkpoints, checkpoint)
		}
	}
	const every = damagedCheckpoints / (lostTranscripts + badSessions + badSummaries)
	var stream strings.Builder
	lost := map[string]bool{} // object names
	for i := range lostTranscripts + badSessions + badSummaries {
		at := checkpoints[i*every]
		switch {
		case i < lostTranscripts:
			lost[strings.TrimSpace(b.git(dir, "rev-parse", branch+":"+at+"/0/full.jsonl"))] = true
			continue
		case i < lostTranscripts+badSessions:
			at += "/0/metadata.json"
		default:
			at += "/metadata.json"
		}
		const message, content = "damage", `{"checkpoint_id":`
		fmt.Fprintf(&stream, "commit %s\ncommitter Bench <bench@example.com> 1800000000 +0000\ndata %d\n%s\n", branch, len(message), message)
		if i == lostTranscripts { // the first one continues the branch
			fmt.Fprintf(&stream, "from %s^0\n", branch)
		}
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", at, len(content), content)
	}
	testkit.Call{Dir: dir, Env: b.env, Stdin: stream.String(), Name: "git", Args: []string{"fast-import", "--quiet"}}.Must(b)
	// Repack all objects except the lost ones.
	all := strings.Fields(b.git(dir, "rev-list", "--objects", "--no-object-names", "--all"))
	kept := slices.DeleteFunc(all, func(oid string) bool { return lost[oid] })
	packs := filepath.Join(dir, ".git", "objects", "pack")
	old, err := filepath.Glob(filepath.Join(packs, "pack-*"))
	b.Must(err)
	testkit.Call{
		Dir: dir, Env: b.env, Stdin: strings.Join(kept, "\n") + "\n", Name: "git",
		Args: []string{"pack-objects", "-q", filepath.Join(packs, "kept")},
	}.Must(b)
	for _, file := range old {
		b.Must(os.Remove(file))
	}
	b.git(dir, "prune-packed")
}
