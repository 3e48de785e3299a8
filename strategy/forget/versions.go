package forget

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

const (
	// maxVersion is the maximum size of a version of a file whose lines are searched for.
	maxVersion = 1 << 20
	// maxCompared is the maximum number of bytes of HEAD's files that are read to find lines that
	// other files have, too.
	maxCompared = 256 << 20
)

// findVersions finds the versions of the file to forget, and their lines.
func (t *target) findVersions(ctx context.Context) error {
	t.content = fileContent{versions: map[git.OID]bool{}, lines: map[string]bool{}}
	t.list.Paths = []string{t.what.File}
	for _, find := range []func(context.Context) error{t.versionsInHistory, t.versionsInRecords, t.versionsLeftBehind, t.versionsInSnapshots} {
		if err := find(ctx); err != nil {
			return fmt.Errorf("find the versions of the file: %w", err)
		}
	}
	delete(t.content.versions, t.w.Repo.Format.HashBlob(nil))
	all, err := git.AllObjects(ctx, t.w.Repo)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(blobs(all), func(o git.ObjectInfo) bool { return !t.content.versions[o.OID] || o.Size > maxVersion })
	if err := t.readObjects(ctx, list, func(o git.Object) { t.addLines(o.Data) }); err != nil {
		return err
	}
	// Drop lines that other files of HEAD have, too: they don't identify this file, and quotes of
	// them may be quotes of the others.
	if len(t.content.lines) == 0 {
		return nil
	}
	out, err := t.w.Repo.Run(ctx, "rev-list", "--objects", "--no-walk", "--missing=allow-any", "HEAD", "--")
	if err != nil {
		return nil //nolint:nilerr // there is no commit yet
	}
	others, paths := map[git.OID]bool{}, t.forgottenPaths()
	for line := range strings.Lines(string(out)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if name != "" && !slices.Contains(paths, name) && !t.content.versions[git.OID(oid)] {
			others[git.OID(oid)] = true
		}
	}
	room := int64(maxCompared)
	list = slices.DeleteFunc(blobs(all), func(o git.ObjectInfo) bool {
		if !others[o.OID] || o.Size > maxVersion || o.Size > room {
			return true
		}
		room -= o.Size
		return false
	})
	return t.readObjects(ctx, list, func(o git.Object) {
		forgotten.LineKeys(o.Data, func(key string) { delete(t.content.lines, key) })
	})
}

// quotes returns the transcript.QuotedFiles that finds quotes of the file to forget, prepared with
// all stored contents.
func (t *target) quotes(ctx context.Context) (*transcript.QuotedFiles, error) {
	quotes := t.tombs.Quotes(func() []string { return git.WorktreeRoots(t.w.Repo) })
	all, err := git.AllObjects(ctx, t.w.Repo)
	if err != nil {
		return nil, err
	}
	if err := t.readObjects(ctx, blobs(all), func(o git.Object) { quotes.Learn(o.Data) }); err != nil {
		return nil, err
	}
	return quotes, t.eachFile(func(_ string, data []byte) error {
		quotes.Learn(data)
		return nil
	})
}

func blobs(list []git.ObjectInfo) []git.ObjectInfo {
	return slices.DeleteFunc(slices.Clone(list), func(o git.ObjectInfo) bool { return o.Type != "blob" })
}

// versionsInHistory finds the versions that a ref or reflog reaches, including those of saved
// contexts.
func (t *target) versionsInHistory(ctx context.Context) error {
	args := []string{"rev-list", "--objects", "--full-history", "--missing=allow-any", "--all", "--reflog", "--"}
	names := map[string]bool{}
	for _, path := range t.forgottenPaths() {
		for _, name := range []string{path, "files/" + path} {
			names[name] = true
			args = append(args, ":(top,literal)"+name)
		}
	}
	out, err := t.w.Repo.Run(ctx, args...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if names[name] {
			t.content.versions[git.OID(oid)] = true
		}
	}
	return nil
}

// versionsInRecords finds the versions that records of sessions name: their steps, and the files of
// their contexts.
func (t *target) versionsInRecords(context.Context) error {
	paths := t.forgottenPaths()
	return t.eachFile(func(path string, data []byte) error {
		if filepath.Dir(path) != t.w.Sessions.SideDir() {
			return nil
		}
		for line := range bytes.Lines(data) {
			var record struct {
				Paths session.Paths `json:"paths"`
				Blobs []git.OID     `json:"blobs"`
				Files map[string]struct {
					Blob git.OID `json:"blob"`
				} `json:"files"`
			}
			if json.Unmarshal(line, &record) != nil {
				continue
			}
			for i, p := range record.Paths {
				if i < len(record.Blobs) && slices.Contains(paths, p) {
					t.addVersion(record.Blobs[i])
				}
			}
			for _, p := range paths {
				t.addVersion(record.Files[p].Blob)
			}
		}
		return nil
	})
}

func (t *target) addVersion(oid git.OID) {
	if t.w.Repo.Format.Valid(oid) {
		t.content.versions[oid] = true
	}
}

// versionsLeftBehind finds the versions in shadow trees that nothing refers to.
func (t *target) versionsLeftBehind(ctx context.Context) error {
	reached, err := git.ReachableObjects(ctx, t.w.Repo, "--all", "--reflog", "--indexed-objects")
	if err != nil {
		return err
	}
	all, err := git.AllObjects(ctx, t.w.Repo)
	if err != nil {
		return err
	}
	paths := t.forgottenPaths()
	for _, o := range all {
		if o.Type != "tree" || reached[o.OID] {
			continue
		}
		entries, err := t.w.Repo.Tree(ctx, o.OID)
		if err != nil || !slices.ContainsFunc(entries, func(e git.TreeEntry) bool { return e.Name == ".entire" || e.Name == "checkpoint.json" }) {
			continue // git prunes damaged trees
		}
		for _, p := range paths {
			for _, name := range []string{p, "files/" + p} {
				if e, found, err := git.LookupPath(ctx, t.w.Repo, o.OID, name); err == nil && found && e.Mode != git.ModeTree && e.Mode != git.ModeModule {
					t.content.versions[e.OID] = true
				}
			}
		}
	}
	return nil
}

// versionsInSnapshots reads the lines of the versions in snapshots and in the worktrees.
func (t *target) versionsInSnapshots(ctx context.Context) error {
	paths := t.forgottenPaths()
	for _, w := range git.Worktrees(t.w.Repo) {
		for _, p := range paths {
			full := filepath.Join(w.Root, filepath.FromSlash(p))
			if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() || info.Size() > maxVersion {
				continue
			}
			if data, err := disk.ReadFile(full); err == nil {
				t.addLines(data)
			}
		}
	}
	store, found, err := tracking.FindStore(t.w)
	if err != nil || !found {
		return err
	}
	snaps, _ := store.Snapshots() // unreadable ones are reported when they are searched
	for _, snap := range snaps {
		for _, p := range paths {
			var data limited
			if err := ctx.Err(); err != nil {
				return err
			}
			if restore.ReadFile(store, snap, p, &data) == nil {
				t.addLines(data.buf.Bytes())
			}
		}
	}
	return nil
}

// limited is a buffer with a maximum size of maxVersion.
type limited struct{ buf bytes.Buffer }

// Write returns an error if p doesn't fit.
func (l *limited) Write(p []byte) (int, error) {
	if l.buf.Len()+len(p) > maxVersion {
		return 0, errors.New("too large")
	}
	return l.buf.Write(p)
}

func (t *target) addLines(data []byte) {
	if bytes.IndexByte(data, 0) >= 0 {
		return
	}
	forgotten.LineKeys(data, func(key string) { t.content.lines[key] = true })
}

// ownCommits returns the user's own commits that have the file, which are not changed.
func (t *target) ownCommits(ctx context.Context) ([]Place, error) {
	if t.what.File == "" {
		return nil, nil
	}
	args := append([]string{"rev-list", "--full-history", "--abbrev-commit"}, checkpoint.UserRefs()...)
	args = append(args, "--")
	for _, p := range t.forgottenPaths() {
		args = append(args, ":(top,literal)"+p)
	}
	out, err := t.w.Repo.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("search your commits: %w", err)
	}
	var list []Place
	for name := range strings.Lines(string(out)) {
		list = append(list, Place{
			Kind: Own, Name: strings.TrimSpace(name), Stays: true,
			What: "your commit changes the file: rewrite your history yourself",
		})
	}
	return list, nil
}
