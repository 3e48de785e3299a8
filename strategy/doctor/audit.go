package doctor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/redact"
)

// Audit checks the checkpoints named by the commits of a range, before it is merged or published:
// that they exist, have transcripts, and contain neither secrets nor files that are too large. It
// writes nothing, and needs neither settings nor a worktree: a clone with the branch of checkpoints
// is enough.
type Audit struct {
	Repo   *git.Repo
	Redact *redact.Redactor
	// Order is the order in which checkpoints are read from their sources.
	Order checkpoint.Order
	// Range has the form of git log's arguments: a range, a revision, or several. If it is empty
	// HEAD is used.
	Range []string
	// All requests checking every checkpoint of the branch instead of those of a range.
	All bool
	// MaxSize is the maximum size of a file of a checkpoint, in bytes.
	MaxSize int64
	// Fetch fetches objects that this clone lacks. If it is nil missing objects are a problem.
	Fetch func(ctx context.Context, missing []git.OID) error
	// Progress is called with the number of examined checkpoints and their total, unless it is nil.
	Progress func(done, total int64)
}

// Problem is a finding about a checkpoint of the range.
type Problem struct {
	Finding

	Commit     git.OID       `json:"commit"`
	Checkpoint checkpoint.ID `json:"checkpoint"`
	// File is the path in the checkpoint's directory, empty for the checkpoint as a whole.
	File string `json:"file,omitempty"`
	// Size is the file's size in bytes, if that is the problem.
	Size int64 `json:"size,omitempty"`
	// Secrets are the places of secrets, without their values.
	Secrets []Secret `json:"secrets,omitempty"`
}

// Secret is a place in a file that the current rules mask.
type Secret struct {
	Rule   string `json:"rule"`
	Line   int    `json:"line"`
	Length int    `json:"length"`
	// Text is the secret. It must not be printed.
	Text string `json:"-"`
}

// Audited is the result of an audit.
type Audited struct {
	// Commits is the number of commits of the range that name checkpoints, Checkpoints and Files
	// the number of checkpoints and files examined, Bytes the number of bytes searched for secrets.
	Commits, Checkpoints, Files int
	Bytes                       int64
	Problems                    []Problem
	// Searched are the examined checkpoints.
	Searched []checkpoint.Located
}

// Run checks the range. An error of git about the range is a *git.ExitError.
func (a *Audit) Run(ctx context.Context) (Audited, error) {
	run := &audit{Audit: a, seen: map[[sha256.Size]byte]bool{}, order: map[checkpoint.ID]int{}, clean: cleanLines{seed: maphash.MakeSeed()}}
	records, err := checkpoint.Open(ctx, a.Repo, a.Order)
	if err != nil {
		return Audited{}, err
	}
	if a.All {
		err = run.nameAll(ctx, records)
	} else {
		err = run.nameRange(ctx)
	}
	if err != nil {
		return Audited{}, err
	}
	const together = 1000 // the files of all checkpoints would not fit into memory
	for part := range slices.Chunk(run.names, together) {
		if err := run.part(ctx, records, part); err != nil {
			return Audited{}, err
		}
	}
	slices.SortStableFunc(run.result.Problems, func(x, y Problem) int {
		return cmp.Or(run.order[x.Checkpoint]-run.order[y.Checkpoint], strings.Compare(x.Code, y.Code), strings.Compare(x.File, y.File))
	})
	return run.result, nil
}

// nameAll adds all checkpoints.
func (a *audit) nameAll(ctx context.Context, records checkpoint.Records) error {
	ids, err := records.Find(ctx, "")
	for _, id := range ids {
		a.name(id, "")
	}
	return err
}

// name adds a checkpoint once, with the first commit that names it.
func (a *audit) name(id checkpoint.ID, commit git.OID) {
	if _, known := a.order[id]; !known {
		a.order[id] = len(a.names)
		a.names = append(a.names, namedCheckpoint{id: id, commit: commit})
	}
}

// nameRange adds the checkpoints of the range.
func (a *audit) nameRange(ctx context.Context) error {
	revs := a.Range
	if len(revs) == 0 {
		revs = []string{"HEAD"}
	}
	args := append([]string{"--reverse", "--end-of-options"}, revs...)
	commits, err := checkpoint.LinkedCommits(ctx, a.Repo, nil, append(args, "--")...)
	if err != nil {
		return err
	}
	a.result.Commits = len(commits)
	for _, c := range commits {
		for _, id := range checkpoint.IDsOf(c) {
			a.name(id, c.OID)
		}
	}
	return a.cut(ctx, revs)
}

// part checks some of the checkpoints.
func (a *audit) part(ctx context.Context, records checkpoint.Records, names []namedCheckpoint) error {
	a.checkpoints, a.files, a.missing = nil, nil, nil
	for _, n := range names {
		if err := a.find(ctx, records, n); err != nil {
			return err
		}
	}
	dirs := make([]git.OID, len(a.checkpoints))
	for i, c := range a.checkpoints {
		dirs[i] = c.Dir
	}
	// Trees that can't be read are reported by list.
	const few = 50
	for level := 0; level < 2 && len(dirs) > few && a.Repo.PrefetchTrees(ctx, dirs) == nil; level++ {
		var below []git.OID
		for _, dir := range dirs {
			entries, _ := a.Repo.Tree(ctx, dir)
			for _, e := range entries {
				if e.Mode == git.ModeTree {
					below = append(below, e.OID)
				}
			}
		}
		dirs = below
	}
	for _, c := range a.checkpoints {
		if err := a.list(ctx, c.namedCheckpoint, c.Dir, ""); err != nil {
			return err
		}
	}
	if err := a.measure(ctx); err != nil {
		return err
	}
	if err := a.whole(ctx, records); err != nil {
		return err
	}
	return a.search(ctx)
}

// audit is one run.
type audit struct {
	*Audit

	result Audited
	names  []namedCheckpoint
	order  map[checkpoint.ID]int
	seen   map[[sha256.Size]byte]bool // the names of files, in bytes
	clean  cleanLines
	// Of the checkpoints that are being checked:
	checkpoints []auditedCheckpoint
	files       []auditedFile
	missing     map[git.OID]bool
}

// auditedCheckpoint is a checkpoint that exists in this clone.
type auditedCheckpoint struct {
	namedCheckpoint
	checkpoint.Located
}

// auditedFile is a file of a checkpoint, the first of those with the same content.
type auditedFile struct {
	namedCheckpoint

	path string
	oid  git.OID
	size int64
}

func (a *audit) found(n namedCheckpoint, file string, f Finding) {
	f.Subject = string(n.id)
	a.result.Problems = append(a.result.Problems, Problem{Finding: f, Commit: n.commit, Checkpoint: n.id, File: file})
}

// cut reports that a shallow clone lacks commits of the range.
func (a *audit) cut(ctx context.Context, revs []string) error {
	boundary, err := git.ShallowBoundary(a.Repo)
	if err != nil || len(boundary) == 0 {
		return err
	}
	out, err := a.Repo.Run(ctx, slices.Concat([]string{"rev-list", "--end-of-options"}, revs, []string{"--"})...)
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	var last []git.OID
	for line := range strings.Lines(string(out)) {
		if oid := git.OID(strings.TrimSpace(line)); boundary[oid] {
			last = append(last, oid)
		}
	}
	if len(last) == 0 {
		return nil
	}
	what := "commits before it are not in this clone"
	if n := len(last) - 1; n > 0 {
		what = "commits before it and " + plain.Plural(n, "other") + " are not in this clone"
	}
	a.found(namedCheckpoint{commit: last[0]}, "", Finding{
		Code: AbsentCommits, Severity: Warning, What: what, Why: "their checkpoints could not be checked",
		Hint: "run `git fetch --unshallow`, or `git fetch --deepen=N`",
	})
	return nil
}

// find finds a checkpoint.
func (a *audit) find(ctx context.Context, records checkpoint.Records, n namedCheckpoint) error {
	at, err := records.Locate(ctx, n.id)
	switch {
	case errors.Is(err, git.ErrMissing):
		a.found(n, "", absentFinding("the checkpoint's content is not in this clone"))
		return nil
	case err == nil:
		a.result.Checkpoints++
		a.result.Searched = append(a.result.Searched, at)
		a.checkpoints = append(a.checkpoints, auditedCheckpoint{n, at})
		return nil
	case !errors.Is(err, checkpoint.ErrNotFound):
		return err
	}
	f := Finding{
		Code: LostCheckpoint, Severity: Warning,
		What: "the checkpoint is not in this clone", Why: "this commit's record can't be read",
		Hint: "ask the commit's author to run: git push <remote> entire/checkpoints/v1",
	}
	switch empty, err := records.Empty(ctx); {
	case err != nil:
		return err
	case n.id.IsULID():
		f.What = "the checkpoint's ref is not in this clone"
		f.Hint = "`entire fetch` fetches it, if its author has pushed it"
	case empty:
		f.What = "this clone has no checkpoints"
		f.Hint = "git fetch --filter=blob:none origin +entire/checkpoints/v1:refs/remotes/origin/entire/checkpoints/v1"
	}
	a.found(n, "", f)
	return nil
}

// list adds the files below a directory of a checkpoint.
func (a *audit) list(ctx context.Context, n namedCheckpoint, dir git.OID, prefix string) error {
	entries, err := a.Repo.Tree(ctx, dir)
	if errors.Is(err, git.ErrMissing) {
		a.found(n, strings.TrimSuffix(prefix, "/"), absentFinding("part of the checkpoint is not in this clone"))
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Mode == git.ModeTree:
			if err := a.list(ctx, n, e.OID, prefix+e.Name+"/"); err != nil {
				return err
			}
		case a.isNew(e.OID):
			a.files = append(a.files, auditedFile{namedCheckpoint: n, path: prefix + e.Name, oid: e.OID})
		}
	}
	return nil
}

// isNew reports whether a file was not listed before.
func (a *audit) isNew(oid git.OID) bool {
	var name [sha256.Size]byte              // of SHA-1, too
	_, _ = hex.Decode(name[:], []byte(oid)) // a tree has valid names
	if a.seen[name] {
		return false
	}
	a.seen[name] = true
	return true
}

func absentFinding(what string) Finding {
	return Finding{
		Code: AbsentContent, Severity: Warning, What: what, Why: "it could not be checked",
		Hint: "`entire check --fetch` fetches what is missing",
	}
}

// measure determines the sizes of the files, and fetches missing ones.
func (a *audit) measure(ctx context.Context) (err error) {
	if a.missing, err = a.absent(ctx); err != nil {
		return err
	}
	if len(a.missing) > 0 && a.Fetch != nil {
		if err := a.Fetch(ctx, slices.Sorted(maps.Keys(a.missing))); err != nil {
			return err
		}
		if a.missing, err = a.absent(ctx); err != nil {
			return err
		}
	}
	a.files = slices.DeleteFunc(a.files, func(f auditedFile) bool { return a.missing[f.oid] })
	oids := make([]git.OID, len(a.files))
	for i, f := range a.files {
		oids[i] = f.oid
	}
	sizes, err := git.ObjectSizes(ctx, a.Repo, oids)
	if err != nil {
		return err
	}
	for i := range a.files {
		f := &a.files[i]
		if f.size = sizes[i]; f.size <= a.MaxSize {
			continue
		}
		a.found(f.namedCheckpoint, f.path, Finding{
			Code: OversizedBlob, Severity: Error, What: "the file has " + sizeText(f.size) + ", the limit is " + sizeText(a.MaxSize),
			Why: "hosts refuse large files, and every clone downloads them",
		})
		a.result.Problems[len(a.result.Problems)-1].Size = f.size
	}
	return nil
}

// absent returns the objects of the checkpoints that are not in this clone.
func (a *audit) absent(ctx context.Context) (map[git.OID]bool, error) {
	const most = 4096 // directories in the arguments of one process
	absent := map[git.OID]bool{}
	for part := range slices.Chunk(a.checkpoints, most) {
		dirs := make([]string, len(part))
		for i, c := range part {
			dirs[i] = string(c.Dir)
		}
		missing, _, err := objects(ctx, a.Repo, dirs...)
		if err != nil {
			return nil, err
		}
		maps.Copy(absent, missing)
	}
	return absent, nil
}

// sizeText formats a size in MiB.
func sizeText(size int64) string {
	const mib = 1 << 20
	if size < mib {
		return plain.Plural(int(size), "byte")
	}
	return fmt.Sprintf("%.1f MiB", float64(size)/mib)
}

// whole checks that the checkpoints can be read and have transcripts.
func (a *audit) whole(ctx context.Context, records checkpoint.Records) error {
	located := make([]checkpoint.Located, len(a.checkpoints))
	ids := make([]checkpoint.ID, len(a.checkpoints))
	for i, c := range a.checkpoints {
		located[i], ids[i] = c.Located, c.id
	}
	inspected, err := checkpoint.Inspect(ctx, a.Repo, located, a.missing)
	if err != nil {
		return err
	}
	for i := range inspected {
		a.inspected(a.checkpoints[i].namedCheckpoint, &inspected[i])
	}
	at := 0
	return records.ReadAll(ctx, ids, func(_ checkpoint.ID, stored checkpoint.Checkpoint, err error) error {
		n := a.checkpoints[at].namedCheckpoint
		at++
		if err != nil || stored.Summary.Forgotten {
			return ctx.Err() // reported above, or removed on purpose
		}
		for _, s := range stored.Sessions {
			entries, err := a.Repo.Tree(ctx, s.Dir)
			if err != nil || s.Meta.IsTask || len(checkpoint.SegmentsIn(entries)) > 0 {
				continue
			}
			a.found(n, strconv.Itoa(s.Index), Finding{
				Code: NoTranscript, Severity: Warning, What: "the session has no transcript",
				Why: "the conversation behind this commit is not recorded",
			})
		}
		return ctx.Err()
	})
}

// inspected reports the damage of a checkpoint.
func (a *audit) inspected(n namedCheckpoint, found *checkpoint.Inspected) {
	switch {
	case len(found.Missing) > 0:
		a.found(n, "", absentFinding(plain.Plural(len(found.Missing), "file")+" of the checkpoint not in this clone"))
	case len(found.Lost) > 0:
		a.found(n, "", Finding{
			Code: DamagedCheckpoint, Severity: Error, What: "the checkpoint is damaged: " + strings.Join(found.Lost, "; "),
			Why: "that part can't be read", Hint: "run `entire doctor --fix` in a clone that has an undamaged copy",
		})
	case found.Summary != "":
		a.found(n, "", Finding{
			Code: CheckpointSummary, Severity: Error, What: "the checkpoint is damaged: " + found.Summary,
			Why: "its branch, tokens and files are not shown", Hint: "`entire doctor --fix` rebuilds its metadata",
		})
	}
}
