package tracking

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

func seenPath(repo *git.Repo) string {
	return filepath.Join(workspace.RecordsDir(repo), "commits-seen")
}

// MarkSeen adds commits to the register of commits that a git hook of this repository saw when they
// were made, and in which no session had a share. It uses a single write without a sync: a power
// failure may lose the last lines.
func MarkSeen(repo *git.Repo, commits ...git.OID) error {
	if len(commits) == 0 {
		return nil
	}
	var lines strings.Builder
	for _, oid := range commits {
		lines.WriteString(string(oid) + "\n")
	}
	path := seenPath(repo)
	if err := disk.Step("append", path); err != nil {
		return fmt.Errorf("register commit: %w", err)
	}
	open := func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) }
	file, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		if err = disk.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			file, err = open()
		}
	}
	if err != nil {
		return fmt.Errorf("register commit: %w", err)
	}
	_, err = file.WriteString(lines.String())
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("register commit: %w", err)
	}
	return nil
}

// SeenCommits returns the commits of the register. Other lines than ids are skipped.
func SeenCommits(repo *git.Repo) (map[git.OID]bool, error) {
	data, err := disk.ReadFile(seenPath(repo))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // an empty map
	}
	if err != nil {
		return nil, fmt.Errorf("read the register of commits: %w", err)
	}
	text := string(data)
	seen := make(map[git.OID]bool, len(text)/(repo.Format.HexLen()+1))
	for line := range strings.Lines(text) {
		if oid := git.OID(strings.TrimSuffix(line, "\n")); len(oid) < len(line) && repo.Format.Valid(oid) {
			seen[oid] = true
		}
	}
	return seen, nil
}

// Unlinked determines which commits without a checkpoint are known to be a person's. What it reads
// it reads once, when it is needed first.
type Unlinked struct {
	Repo *git.Repo

	seen    map[git.OID]bool
	hasSeen bool
	begun   *Recording
}

// Recording describes since when sessions are recorded in a repository.
type Recording struct {
	// First is the earliest start of a session, recorded or imported, or the earliest record of a
	// checkpoint; zero if there is no session, or if the earliest one isn't known.
	First time.Time
	// Recorded reports whether a session is recorded in this repository, or imported; Fetched whether it
	// has a branch with checkpoints.
	Recorded, Fetched bool
	// Remote reports whether the repository fetches from a remote, Unfetched whether a remote may have
	// checkpoints that were not fetched, as that of a clone of a single branch.
	Remote, Unfetched bool
}

// IsSeen reports whether a git hook of this repository saw the commit when it was made, and no
// session had a share in it.
func (u *Unlinked) IsSeen(commit git.OID) (bool, error) {
	if !u.hasSeen {
		var err error
		if u.seen, err = SeenCommits(u.Repo); err != nil {
			return false, err
		}
		u.hasSeen = true
	}
	return u.seen[commit], nil
}

// IsEarlier reports whether the commit is older than the first record of the repository.
func (u *Unlinked) IsEarlier(ctx context.Context, commit git.Commit) (bool, error) {
	r, err := u.Recording(ctx)
	if err != nil || r.First.IsZero() {
		return false, err
	}
	const unit = time.Second // of git's dates
	return !commit.Committer.When.IsZero() && commit.Committer.When.Before(r.First.Truncate(unit)), nil
}

// IsPersons reports whether the record shows that a commit without a checkpoint is a person's.
func (u *Unlinked) IsPersons(ctx context.Context, commit git.Commit) (bool, error) {
	if checkpoint.IsDeclined(commit) || len(checkpoint.IDsOf(commit)) > 0 {
		return false, nil
	}
	if seen, err := u.IsSeen(commit.OID); err != nil || seen {
		return seen, err
	}
	return u.IsEarlier(ctx, commit)
}

// Recording determines since when sessions are recorded.
func (u *Unlinked) Recording(ctx context.Context) (Recording, error) {
	if u.begun != nil {
		return *u.begun, nil
	}
	r, err := recordingOf(ctx, u.Repo)
	if err != nil {
		return r, fmt.Errorf("find the first record: %w", err)
	}
	u.begun = &r
	return r, nil
}

// recordingOf reads the sessions, the metadata branches and the settings of a repository.
func recordingOf(ctx context.Context, repo *git.Repo) (r Recording, err error) {
	tips, err := checkpoint.Tips(ctx, repo)
	if err != nil {
		return r, err
	}
	states, failed := session.Open(repo.CommonDir).All()
	hasRefs, err := git.RefsExist(ctx, repo, checkpoint.CheckpointRefs)
	if err != nil {
		return r, err
	}
	r.Fetched = len(tips) > 0 || hasRefs
	imported, err := firstImported(ctx, repo)
	if err != nil {
		return r, err
	}
	r.Recorded = r.Fetched || len(states)+len(failed) > 0 || !imported.IsZero()
	if err := r.addRemotes(ctx, repo); err != nil || !r.Recorded || r.Unfetched || len(failed) > 0 {
		return r, err
	}
	if r.Remote && len(tips) == 0 { // no clone has all refs of checkpoints, so the first one isn't known
		if r.Unfetched, err = namesRefs(ctx, repo, hasRefs); err != nil || r.Unfetched {
			return r, err
		}
	}
	var first time.Time
	if len(tips) > 0 {
		var known bool
		if first, known, err = firstRecord(ctx, repo, tips); err != nil || !known {
			return r, err
		}
	}
	if hasRefs {
		ofRefs, _, err := checkpoint.FirstOfRefs(ctx, repo)
		if err != nil {
			return r, err
		}
		if !ofRefs.IsZero() && (first.IsZero() || ofRefs.Before(first)) {
			first = ofRefs
		}
	}
	if !imported.IsZero() && (first.IsZero() || imported.Before(first)) {
		first = imported
	}
	for _, s := range states {
		if !s.StartedAt.IsZero() && (first.IsZero() || s.StartedAt.Before(first)) {
			first = s.StartedAt
		}
	}
	r.First = first
	return r, nil
}

// namesRefs reports whether checkpoints of the repository have refs: some are here, or a commit names one.
func namesRefs(ctx context.Context, repo *git.Repo, hasRefs bool) (bool, error) {
	if hasRefs {
		return true, nil
	}
	commits, err := git.Commits(ctx, repo, append([]string{"--max-count=1", "--grep=^" + checkpoint.TrailerKey + ": [0-7][0-9A-Z]\\{25\\}"}, append(checkpoint.UserRefs(), "--")...)...)
	return len(commits) > 0, err
}

// firstRecord returns the time of the first record on the metadata branches, given by their tips. It
// keeps the time and the tips in a file, and then reads only the commits that are new.
func firstRecord(ctx context.Context, repo *git.Repo, tips []git.OID) (first time.Time, known bool, err error) {
	path := filepath.Join(workspace.RecordsDir(repo), "first-record")
	before, read := readFirst(path)
	if !before.IsZero() && slices.Equal(read, tips) {
		return before, true, nil
	}
	if before.IsZero() {
		first, known, err = checkpoint.FirstRecord(ctx, repo, nil)
	} else if first, known, err = checkpoint.FirstRecord(ctx, repo, read); err != nil && ctx.Err() == nil { // a tip is gone
		first, known, err = checkpoint.FirstRecord(ctx, repo, nil)
	} else if !known || before.Before(first) {
		first, known = before, err == nil
	}
	if err != nil || !known {
		return first, known, err
	}
	writeFirst(path, first, tips)
	return first, true, nil
}

// firstImported returns the beginning of the earliest imported session, zero if there is none. It keeps it
// in a file until others are imported.
func firstImported(ctx context.Context, repo *git.Repo) (first time.Time, err error) {
	tip, err := checkpoint.ImportedTip(ctx, repo)
	if err != nil || tip == "" {
		return first, err
	}
	path := filepath.Join(workspace.RecordsDir(repo), "first-imported")
	if first, read := readFirst(path); slices.Equal(read, []git.OID{tip}) {
		return first, nil
	}
	if first, err = checkpoint.FirstImported(ctx, repo); err == nil && !first.IsZero() {
		writeFirst(path, first, []git.OID{tip})
	}
	return first, err
}

// writeFirst writes the file of the first record.
func writeFirst(path string, first time.Time, tips []git.OID) {
	var text strings.Builder
	text.WriteString(first.UTC().Format(time.RFC3339Nano) + "\n")
	for _, oid := range tips {
		text.WriteString(string(oid) + "\n")
	}
	if disk.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = disk.WriteCache(path, []byte(text.String()), 0o600) // else it is determined again
	}
}

// readFirst returns the time in the file of the first record, and the tips that it was read from; zero if
// it can't be read.
func readFirst(path string) (first time.Time, tips []git.OID) {
	data, err := disk.ReadFile(path)
	if err != nil {
		return first, nil
	}
	text, rest, _ := strings.Cut(string(data), "\n")
	if first, err = time.Parse(time.RFC3339Nano, text); err != nil {
		return time.Time{}, nil
	}
	for oid := range strings.FieldsSeq(rest) {
		tips = append(tips, git.OID(oid))
	}
	return first, tips
}

// addRemotes determines from which remotes branches are fetched, and whether those with checkpoints
// are among them.
func (r *Recording) addRemotes(ctx context.Context, repo *git.Repo) error {
	values, err := repo.Config.Variables(ctx)
	if err != nil {
		return err
	}
	for key, refspecs := range values {
		name, isRemote := strings.CutPrefix(key, "remote.")
		name, isFetch := strings.CutSuffix(name, ".fetch")
		if !isRemote || !isFetch {
			continue
		}
		r.Remote = true
		_, err := repo.ResolveRef("refs/remotes/" + name + "/" + strings.TrimPrefix(checkpoint.MetadataBranch, "refs/heads/"))
		r.Unfetched = r.Unfetched || err != nil && !slices.ContainsFunc(refspecs, fetchesCheckpoints)
	}
	return nil
}

// fetchesCheckpoints reports whether a refspec includes the metadata branch.
func fetchesCheckpoints(refspec string) bool {
	from, _, _ := strings.Cut(strings.TrimPrefix(refspec, "+"), ":")
	start, end, isPattern := strings.Cut(from, "*")
	branch := checkpoint.MetadataBranch
	if !isPattern {
		return from == branch
	}
	return strings.HasPrefix(branch, start) && strings.HasSuffix(branch, end)
}
