package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// ErrRefMoved means that a ref did not have the old value: another process moved it. Nothing was
// changed; read the ref again and retry.
var ErrRefMoved = errors.New("ref has moved")

// ErrRefLocked means that another process held a ref's lock for longer than git waits, or that a
// crash left the lock file. Nothing was changed.
var ErrRefLocked = errors.New("ref is locked")

// RefChange moves one ref from Old to New. An empty New deletes the ref; with an empty Old it must
// not exist.
type RefChange struct {
	Name     string
	New, Old OID
}

// Ref is a ref and the object it points at.
type Ref struct {
	Name string
	OID  OID
}

// UpdateRefs moves all refs or none. The error is ErrRefMoved if one of them does not have its old
// value.
func UpdateRefs(ctx context.Context, r *Repo, reason string, updates []RefChange) error {
	dirs, err := UpdateRefsUnsynced(ctx, r, reason, updates)
	if err != nil || len(updates) == 0 {
		return err
	}
	if err := disk.SyncFiles(nil, dirs); err != nil {
		return fmt.Errorf("update ref %s: %w", updates[0].Name, err)
	}
	return disk.Step("ref-done", updates[0].Name)
}

// Remove removes refs that still have their values, all or none.
func Remove(ctx context.Context, r *Repo, reason string, refs []Ref) error {
	updates := make([]RefChange, len(refs))
	for i, ref := range refs {
		updates[i] = RefChange{Name: ref.Name, Old: ref.OID}
	}
	return UpdateRefs(ctx, r, reason, updates)
}

// UpdateRefsUnsynced is like UpdateRefs but does not wait until the new values are on the disk: the
// caller must sync the returned directories, which takes no longer if it is done together with
// other files. Until then a power failure may undo any of the moves. The objects are on the disk
// before a ref has its new value.
func UpdateRefsUnsynced(ctx context.Context, r *Repo, reason string, updates []RefChange) (dirs []string, err error) {
	if len(updates) == 0 {
		return nil, nil
	}
	script, err := refScript(r, updates)
	if err != nil {
		return nil, err
	}
	for _, u := range updates {
		if err := disk.Step("ref", u.Name); err != nil {
			return nil, fmt.Errorf("update ref %s: %w", u.Name, err)
		}
	}
	// Without --no-deref a symbolic ref would lead to another branch.
	args := []string{"-c", "core.fsync=reference", "update-ref", "--no-deref", "--stdin", "-z"}
	if reason != "" {
		args = append(args, "-m", reason)
	}
	try := func() error {
		// Git starts while the objects are being named. While the names are synced, git syncs the
		// new values of the refs, which are in the lock files at that point.
		stdin := io.MultiReader(calls(r.NameObjects), strings.NewReader(script), calls(r.SyncObjects), strings.NewReader("commit\x00"))
		_, err := r.Do(ctx, Command{Args: args, Stdin: stdin, Early: true})
		if err != nil {
			return refError(ctx, r, updates, err)
		}
		return nil
	}
	err = try()
	if errors.Is(err, ErrRefLocked) {
		// A killed git process may have left locks on the program's refs, or on packed-refs, which
		// git locks to delete a ref. Locks of other refs are left to the user.
		broken := false
		for _, u := range updates {
			lock := filepath.Join(r.CommonDir, filepath.FromSlash(u.Name)+".lock")
			ours := strings.HasPrefix(u.Name, "refs/heads/entire/") || strings.HasPrefix(u.Name, "refs/entire/")
			broken = ours && breakLock(r, lock, abandonedLock) || broken
		}
		broken = breakLock(r, filepath.Join(r.CommonDir, "packed-refs.lock"), abandonedPackedLock) || broken
		if broken {
			err = try()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("update ref %s: %w", updates[0].Name, err)
	}
	return refDirs(r, updates), nil
}

// calls is an empty reader that calls the function and returns its error.
type calls func() error

// Read calls the function.
func (c calls) Read([]byte) (int, error) {
	if err := c(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// refDirs returns the directories in which names change with the refs. Git syncs the files of refs
// if it is configured to, but never the directories.
func refDirs(r *Repo, updates []RefChange) []string {
	if r.RefStorage == "reftable" {
		return []string{filepath.Join(r.CommonDir, "reftable")}
	}
	dirs := map[string]bool{}
	for _, u := range updates {
		dir := filepath.Dir(filepath.Join(r.CommonDir, filepath.FromSlash(u.Name)))
		dirs[dir] = true
		if u.New == "" { // packed-refs is rewritten
			dirs[r.CommonDir] = true
		}
		if u.Old != "" && u.New != "" {
			continue
		}
		for dir != filepath.Join(r.CommonDir, "refs") && len(dir) > len(r.CommonDir) { // made or removed with it
			dir = filepath.Dir(dir)
			dirs[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

const (
	// abandonedLock is the age at which a ref's lock is considered abandoned: git holds one for
	// milliseconds.
	abandonedLock = time.Minute
	// abandonedPackedLock is that age for the lock of packed-refs, under which git may rewrite all
	// refs.
	abandonedPackedLock = 10 * time.Minute
)

// breakLock removes an abandoned lock, and reports whether it did. Another process may find the
// same lock abandoned, remove it, and take a new one. So the file is renamed first, which succeeds
// in only one process, and its age is checked again. If the renamed lock is a fresh one, it is
// restored.
func breakLock(r *Repo, lock string, age time.Duration) bool {
	if info, err := os.Lstat(lock); err != nil || time.Since(info.ModTime()) <= age { //nolint:forbidigo // the age of a file has no other clock
		return false
	}
	aside := filepath.Join(r.CommonDir, "lock.entire-tmp-"+strconv.Itoa(os.Getpid())) // else git reads it as a ref
	if disk.Rename(lock, aside) != nil {
		return false
	}
	defer func() { _ = os.Remove(aside) }()
	info, err := os.Lstat(aside)
	if err != nil {
		return false
	}
	if time.Since(info.ModTime()) <= age { //nolint:forbidigo // as above
		_ = os.Link(aside, lock) // fails if yet another process has the lock
		return false
	}
	return true
}

// refScript returns the transaction in update-ref's language, up to its commit.
func refScript(r *Repo, updates []RefChange) (string, error) {
	var b strings.Builder
	b.WriteString("start\x00")
	for _, u := range updates {
		if !strings.HasPrefix(u.Name, "refs/") || strings.ContainsAny(u.Name, "\x00\n ") {
			return "", fmt.Errorf("update ref %q: not a ref's name", u.Name)
		}
		known := (u.New == "" || r.Format.Valid(u.New)) && (u.Old == "" || r.Format.Valid(u.Old))
		if !known || u.New+u.Old == "" {
			return "", fmt.Errorf("update ref %s: from %q to %q is no move", u.Name, u.Old, u.New)
		}
		fmt.Fprintf(&b, "update %s\x00%s\x00%s\x00", u.Name, orZero(r, u.New), orZero(r, u.Old))
	}
	b.WriteString("prepare\x00")
	return b.String(), nil
}

func orZero(r *Repo, oid OID) OID {
	if oid == "" {
		return r.Format.Zero()
	}
	return oid
}

// refError distinguishes a lost race from other failures: by git's message or else by the current
// values of the refs.
func refError(ctx context.Context, r *Repo, updates []RefChange, err error) error {
	exit, ok := errors.AsType[*ExitError](err)
	if !ok {
		return err
	}
	switch {
	case strings.Contains(exit.Stderr, "but expected "), strings.Contains(exit.Stderr, "reference already exists"):
		return errors.Join(ErrRefMoved, err)
	case strings.Contains(exit.Stderr, ".lock': File exists"):
		return errors.Join(ErrRefLocked, err)
	}
	names := make([]string, len(updates))
	for i, u := range updates {
		names[i] = u.Name
	}
	refs, unread := ListRefs(ctx, r, names...)
	if unread != nil {
		return err
	}
	now := make(map[string]OID, len(refs))
	for _, ref := range refs {
		now[ref.Name] = ref.OID
	}
	for _, u := range updates {
		if now[u.Name] != u.Old {
			return errors.Join(ErrRefMoved, err)
		}
	}
	return err
}

// ExpireReflogs removes all entries of the reflogs of refs that exist.
func ExpireReflogs(ctx context.Context, r *Repo, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := r.Run(ctx, append([]string{"reflog", "expire", "--expire=now", "--expire-unreachable=now"}, names...)...)
	if exit, ok := errors.AsType[*ExitError](err); ok && (strings.Contains(exit.Stderr, "could not be found") || strings.Contains(exit.Stderr, "points nowhere")) {
		return nil // one has no reflog; git has processed the others
	}
	return err
}

// ReflogCommits returns the values that the reflogs of refs record.
func ReflogCommits(ctx context.Context, r *Repo, names ...string) ([]OID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	out, err := r.Run(ctx, append([]string{"log", "--walk-reflogs", "--format=%H"}, append(names, "--")...)...)
	if err != nil {
		return nil, fmt.Errorf("read reflogs: %w", err)
	}
	var oids []OID
	for name := range strings.FieldsSeq(string(out)) {
		oids = append(oids, OID(name))
	}
	return oids, nil
}

// ListRefs lists the refs equal to or below one of the prefixes, which end at a slash or at a whole
// name ("refs/heads/entire/"); without prefixes it lists all refs.
func ListRefs(ctx context.Context, r *Repo, prefix ...string) ([]Ref, error) {
	if len(prefix) == 1 && strings.HasSuffix(prefix[0], "/") {
		if refs, err := r.refs.refsBelow(prefix[0]); err == nil {
			return refs, nil
		}
	}
	args := append([]string{"for-each-ref", "--format=%(objectname) %(refname)", "--"}, prefix...)
	out, err := r.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		oid, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || !r.Format.Valid(OID(oid)) {
			return nil, fmt.Errorf("list refs: unknown line %q", line)
		}
		refs = append(refs, Ref{Name: name, OID: OID(oid)})
	}
	return refs, nil
}

// RefCommit returns the commit that a ref names, without its note; false if there is no such ref. The
// error is ErrMissing if the ref's commit is missing.
func RefCommit(ctx context.Context, r *Repo, name string) (c Commit, found bool, err error) {
	oid, err := r.refs.resolve(name)
	if errors.Is(err, errAskGit) {
		var refs []Ref
		if refs, err = ListRefs(ctx, r, name); err == nil && (len(refs) == 0 || refs[0].Name != name) {
			err = ErrMissing
		} else if err == nil {
			oid = refs[0].OID
		}
	}
	switch {
	case errors.Is(err, ErrMissing):
		return c, false, nil
	case err != nil:
		return c, false, err
	}
	object, err := r.Read(ctx, string(oid)+"^{commit}")
	if err == nil {
		c, err = ParseCommit(object)
	}
	return c, true, err
}

// RefsExist reports whether there are refs below the prefix, which ends at a slash. It starts git
// only if refs are not stored in files.
func RefsExist(ctx context.Context, r *Repo, prefix string) (bool, error) {
	if r.RefStorage != "files" {
		refs, err := ListRefs(ctx, r, prefix)
		return len(refs) > 0, err
	}
	found := false
	err := filepath.WalkDir(filepath.Join(r.CommonDir, filepath.FromSlash(prefix)), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			found = true
			return fs.SkipAll
		}
		return err
	})
	if found || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	err = r.refs.packedBelow(prefix, func(Ref) bool {
		found = true
		return false
	})
	if errors.Is(err, errAskGit) {
		refs, err := ListRefs(ctx, r, prefix)
		return len(refs) > 0, err
	}
	return found, err
}
