package git_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// Encoded objects must be byte for byte those of go-git, which supports only SHA-1.
func TestEncodingMatchesGoGit(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	repo := s.Open(s.Init("main"))
	rapid.Check(t, func(t *rapid.T) {
		entries := drawEntries(t)
		tree := object.Tree{}
		for _, e := range entries {
			tree.Entries = append(tree.Entries, object.TreeEntry{
				Name: e.Name, Mode: filemode.FileMode(e.Mode), Hash: plumbing.NewHash(string(e.OID)),
			})
		}
		treeOID, err := git.WriteTree(repo, entries)
		if err != nil {
			t.Fatalf("WriteTree: %v", err)
		}
		sortEntries(&tree)
		sameObject(t, repo, treeOID, tree.Encode)

		when := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "when"), 0).In(time.FixedZone("", 60*rapid.IntRange(-720, 720).Draw(t, "zone")))
		message := rapid.StringMatching(`[a-zæ\n :]{1,80}`).Draw(t, "message") + "\n"
		who := git.Signature{Name: "Ä. Person", Email: "a@example.com", When: when}
		parent := git.OID("0123456789012345678901234567890123456789")
		commit, err := repo.WriteCommit(git.Commit{Tree: treeOID, Parents: []git.OID{parent}, Author: who, Committer: who, Message: message})
		if err != nil {
			t.Fatalf("WriteCommit: %v", err)
		}
		theirs := object.Signature{Name: who.Name, Email: who.Email, When: when}
		wanted := object.Commit{
			TreeHash: plumbing.NewHash(string(treeOID)), ParentHashes: []plumbing.Hash{plumbing.NewHash(string(parent))},
			Author: theirs, Committer: theirs, Message: message,
		}
		sameObject(t, repo, commit, wanted.Encode)
	})
}

func drawEntries(t *rapid.T) []git.TreeEntry {
	modes := []git.Mode{git.ModeFile, git.ModeExec, git.ModeLink, git.ModeModule}
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c.-]{1,3}x`), 1, 6, rapid.ID[string]).Draw(t, "names")
	var entries []git.TreeEntry
	for _, name := range names {
		oid := rapid.StringMatching(`[0-9a-f]{40}`).Draw(t, "oid")
		entries = append(entries, git.TreeEntry{Name: name, Mode: rapid.SampledFrom(modes).Draw(t, "mode"), OID: git.OID(oid)})
	}
	return entries
}

// sortEntries sorts entries by name. Directories have another order, which other tests compare with
// git itself.
func sortEntries(tree *object.Tree) {
	for i := range tree.Entries {
		for j := i; j > 0 && tree.Entries[j].Name < tree.Entries[j-1].Name; j-- {
			tree.Entries[j], tree.Entries[j-1] = tree.Entries[j-1], tree.Entries[j]
		}
	}
}

func sameObject(t *rapid.T, repo *git.Repo, oid git.OID, encode func(plumbing.EncodedObject) error) {
	wanted := &plumbing.MemoryObject{}
	if err := encode(wanted); err != nil {
		t.Fatalf("go-git: %v", err)
	}
	r, err := wanted.Reader()
	if err != nil {
		t.Fatalf("go-git: %v", err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("go-git: %v", err)
	}
	if got := string(oid); got != wanted.Hash().String() {
		t.Errorf("object id %s, go-git has %s", got, wanted.Hash())
	}
	got, err := repo.Read(t.Context(), string(oid))
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	if !bytes.Equal(got.Data, data) {
		t.Errorf("content (-go-git +ours):\n%s", cmp.Diff(string(data), string(got.Data)))
	}
}
