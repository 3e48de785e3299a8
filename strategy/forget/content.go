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

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/export"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitobject"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

const (
	// maxVersion is the size of the largest version of a file whose lines are searched
	// for.
	maxVersion = 1 << 20
	// maxCompared is how many bytes of HEAD's files are read to find lines that other
	// files have too.
	maxCompared = 256 << 20
)

// fileContent is what is known of a file that is forgotten: the objects that have its
// content, and its lines.
type fileContent struct {
	versions map[git.OID]bool
	lines    map[string]bool // by their keys
}

// prepareFile finds the versions of the file that is forgotten, and their lines.
func (f *Forgetting) prepareFile(ctx context.Context) error {
	f.content = fileContent{versions: map[git.OID]bool{}, lines: map[string]bool{}}
	f.list.Paths = []string{f.what.File}
	for _, find := range []func(context.Context) error{f.versionsInHistory, f.versionsInFiles, f.versionsLeftBehind, f.versionsInSnapshots} {
		if err := find(ctx); err != nil {
			return fmt.Errorf("find the versions of the file: %w", err)
		}
	}
	if err := f.readVersions(ctx); err != nil {
		return err
	}
	return f.dropCommonLines(ctx)
}

// quotes returns what finds quotes of the file that is forgotten, in what is stored now.
func (f *Forgetting) quotes(ctx context.Context) (*transcript.Quotes, error) {
	quotes := f.tombs.Quotes(func() []string { return gitwork.Roots(f.rec.Repo) })
	all, err := gitobject.All(ctx, f.rec.Repo)
	if err != nil {
		return nil, err
	}
	if err := f.readAll(ctx, blobs(all), func(o git.Object) { quotes.Learn(o.Data) }); err != nil {
		return nil, err
	}
	return quotes, f.eachFile(func(_ string, data []byte) error {
		quotes.Learn(data)
		return nil
	})
}

func blobs(list []gitobject.Info) []gitobject.Info {
	return slices.DeleteFunc(slices.Clone(list), func(o gitobject.Info) bool { return o.Type != "blob" })
}

// forgottenPaths are the file that is forgotten and those that belong to it.
func (f *Forgetting) forgottenPaths() []string {
	return (&checkpoint.Tombstones{Files: []string{f.what.File}}).FilePaths()
}

// userRefs are arguments of rev-list for what isn't ours.
func userRefs() []string {
	return []string{"--exclude=refs/heads/entire/*", "--exclude=refs/entire/*", "--exclude=refs/remotes/*/entire/*", "--all"}
}

// versionsInHistory finds the versions that a ref or reflog reaches, those of saved
// contexts included.
func (f *Forgetting) versionsInHistory(ctx context.Context) error {
	args := []string{"rev-list", "--objects", "--full-history", "--missing=allow-any", "--all", "--reflog", "--"}
	names := map[string]bool{}
	for _, path := range f.forgottenPaths() {
		for _, name := range []string{path, "files/" + path} {
			names[name] = true
			args = append(args, ":(top,literal)"+name)
		}
	}
	out, err := f.rec.Repo.Run(ctx, args...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if names[name] {
			f.content.versions[git.OID(oid)] = true
		}
	}
	return nil
}

// versionsInFiles finds the versions that records of sessions name: their steps, and
// the files of their contexts.
func (f *Forgetting) versionsInFiles(context.Context) error {
	paths := f.forgottenPaths()
	return f.eachFile(func(path string, data []byte) error {
		if filepath.Dir(path) != f.rec.Sessions.SideDir() {
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
					f.addVersion(record.Blobs[i])
				}
			}
			for _, p := range paths {
				f.addVersion(record.Files[p].Blob)
			}
		}
		return nil
	})
}

func (f *Forgetting) addVersion(oid git.OID) {
	if f.rec.Repo.Format.Valid(oid) {
		f.content.versions[oid] = true
	}
}

// versionsLeftBehind finds the versions in shadow trees that nothing refers to.
func (f *Forgetting) versionsLeftBehind(ctx context.Context) error {
	reached, err := gitobject.Reachable(ctx, f.rec.Repo, "--all", "--reflog", "--indexed-objects")
	if err != nil {
		return err
	}
	all, err := gitobject.All(ctx, f.rec.Repo)
	if err != nil {
		return err
	}
	paths := f.forgottenPaths()
	for _, o := range all {
		if o.Type != "tree" || reached[o.OID] {
			continue
		}
		entries, err := f.rec.Repo.Tree(ctx, o.OID)
		if err != nil || !slices.ContainsFunc(entries, func(e git.TreeEntry) bool { return e.Name == ".entire" || e.Name == "checkpoint.json" }) {
			continue // git prunes a damaged one
		}
		for _, p := range paths {
			for _, name := range []string{p, "files/" + p} {
				if e, found, err := gittree.Lookup(ctx, f.rec.Repo, o.OID, name); err == nil && found && e.Mode != git.ModeTree && e.Mode != git.ModeModule {
					f.content.versions[e.OID] = true
				}
			}
		}
	}
	return nil
}

// versionsInSnapshots reads the lines of the versions in snapshots, and of those in the
// worktrees.
func (f *Forgetting) versionsInSnapshots(ctx context.Context) error {
	paths := f.forgottenPaths()
	for _, w := range gitwork.Worktrees(f.rec.Repo) {
		for _, p := range paths {
			full := filepath.Join(w.Root, filepath.FromSlash(p))
			if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() || info.Size() > maxVersion {
				continue
			}
			if data, err := os.ReadFile(full); err == nil {
				f.addLines(data)
			}
		}
	}
	store, err := bands.Open(f.rec.Snapshots().Snapshots.StoreDir())
	if errors.Is(err, bands.ErrNoStore) {
		return nil
	}
	if err != nil {
		return err
	}
	snaps, _ := store.Snapshots() // what can't be read is named when they are searched
	for _, snap := range snaps {
		for _, p := range paths {
			var data limited
			if err := ctx.Err(); err != nil {
				return err
			}
			if export.ReadFile(store, snap, p, &data) == nil {
				f.addLines(data.buf.Bytes())
			}
		}
	}
	return nil
}

// limited is a buffer that refuses more than maxVersion.
type limited struct{ buf bytes.Buffer }

// Write fails when there is no room left.
func (l *limited) Write(p []byte) (int, error) {
	if l.buf.Len()+len(p) > maxVersion {
		return 0, errors.New("too large")
	}
	return l.buf.Write(p)
}

// readVersions reads the lines of the versions that are objects.
func (f *Forgetting) readVersions(ctx context.Context) error {
	delete(f.content.versions, f.rec.Repo.Format.HashBlob(nil))
	all, err := gitobject.All(ctx, f.rec.Repo)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(blobs(all), func(o gitobject.Info) bool { return !f.content.versions[o.OID] })
	return f.readAll(ctx, slices.DeleteFunc(list, func(o gitobject.Info) bool { return o.Size > maxVersion }), func(o git.Object) { f.addLines(o.Data) })
}

func (f *Forgetting) addLines(data []byte) {
	if bytes.IndexByte(data, 0) >= 0 {
		return
	}
	redact.LineKeys(data, func(key string) { f.content.lines[key] = true })
}

// dropCommonLines drops the lines that other files of HEAD have too: they tell nothing of
// this one, and are quoted of the others.
func (f *Forgetting) dropCommonLines(ctx context.Context) error {
	if len(f.content.lines) == 0 {
		return nil
	}
	out, err := f.rec.Repo.Run(ctx, "rev-list", "--objects", "--no-walk", "--missing=allow-any", "HEAD", "--")
	if err != nil {
		return nil //nolint:nilerr // there is no commit yet
	}
	others, paths := map[git.OID]bool{}, f.forgottenPaths()
	for line := range strings.Lines(string(out)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if name != "" && !slices.Contains(paths, name) && !f.content.versions[git.OID(oid)] {
			others[git.OID(oid)] = true
		}
	}
	all, err := gitobject.All(ctx, f.rec.Repo)
	if err != nil {
		return err
	}
	room := int64(maxCompared)
	list := slices.DeleteFunc(blobs(all), func(o gitobject.Info) bool {
		if !others[o.OID] || o.Size > maxVersion || o.Size > room {
			return true
		}
		room -= o.Size
		return false
	})
	return f.readAll(ctx, list, func(o git.Object) {
		redact.LineKeys(o.Data, func(key string) { delete(f.content.lines, key) })
	})
}

// ownCommits names the user's own commits that have the file, which stay as they are.
func (f *Forgetting) ownCommits(ctx context.Context) ([]Place, error) {
	if f.what.File == "" {
		return nil, nil
	}
	args := append([]string{"rev-list", "--full-history", "--abbrev-commit"}, userRefs()...)
	args = append(args, "--")
	for _, p := range f.forgottenPaths() {
		args = append(args, ":(top,literal)"+p)
	}
	out, err := f.rec.Repo.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("search your commits: %w", err)
	}
	var list []Place
	for name := range strings.Lines(string(out)) {
		list = append(list, Place{
			Kind: Own, Name: strings.TrimSpace(name), Stays: true,
			What: "your commit changes the file: rewriting your own history is yours to do",
		})
	}
	return list, nil
}
