package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/plain"
)

// HashMode selects whether HashFiles stores the blobs.
type HashMode int

// The modes of HashFiles.
const (
	HashOnly HashMode = iota
	HashAndStore
)

// maxHashFailures is the number of failed files after which HashFiles gives up: the cause isn't the
// files then, and each costs another process.
const maxHashFailures = 3

// packFrom is the number of files from which they are stored in a pack rather than as loose
// objects. Loose ones cost about ten times as much, but hooks read them without starting git.
const packFrom = 500

// HashFiles returns the blob that `git add` would make of each path of the working tree: after
// line-end conversion, encoding and filters. Paths are relative to Root and may contain any bytes.
// Paths that aren't readable regular files, and paths beyond a symlink, are left out. If single
// files fail (a filter, no space), the results of the other ones are returned with the error.
func HashFiles(ctx context.Context, r *Repo, mode HashMode, paths []string) (map[string]OID, error) {
	oids := make(map[string]OID, len(paths))
	if r.Root == "" {
		return oids, nil
	}
	// The paths of regular files, without duplicates.
	seen := make(map[string]struct{}, len(paths))
	todo := make([]string, 0, len(paths))
	for _, p := range paths {
		if _, twice := seen[p]; twice || !ValidPath(p) {
			continue
		}
		seen[p] = struct{}{}
		// Git adds no files beyond a symlink.
		if rel, ok := r.Rel(filepath.Join(r.Root, filepath.FromSlash(p))); ok && rel == p && isReadable(r, p) {
			todo = append(todo, p)
		}
	}
	if len(todo) < packFrom {
		rest, err := hashVerbatim(ctx, r, mode, todo, oids)
		if err != nil || len(rest) == 0 {
			return oids, err
		}
		todo = rest
	}
	converted, err := hashConverted(ctx, r, mode, todo)
	maps.Copy(oids, converted)
	return oids, err
}

// hashConverted is HashFiles by a git process, which converts and filters the files.
func hashConverted(ctx context.Context, r *Repo, mode HashMode, todo []string) (map[string]OID, error) {
	oids := make(map[string]OID, len(todo))
	hash := func(env []string) error {
		failed, err := hashEach(ctx, r, hashing{mode, env}, todo, oids)
		if err != nil {
			return fmt.Errorf("hash files: %w", err)
		}
		return errors.Join(append(failed, keepLineEnds(ctx, r, hashing{mode, env}, oids))...)
	}
	switch {
	case mode == HashOnly || len(todo) == 0:
		return oids, hash(nil)
	case len(todo) < packFrom:
		return oids, r.Loose.Quarantine(hash)
	}
	mode = HashOnly
	failed := hash(nil)
	// Files whose blobs differ from their contents are left to git: they were converted by git, or
	// have changed since.
	var rest []string
	err := r.WriteBlobPack(func(add func([]byte) (OID, error)) error {
		for _, p := range todo {
			if err := ctx.Err(); err != nil {
				return err
			}
			oid, hashed := oids[p]
			if !hashed || r.Loose.Keep(oid) {
				continue
			}
			data, err := os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(p)))
			if err != nil || r.Format.HashBlob(data) != oid {
				delete(oids, p)
				rest = append(rest, p)
				continue
			}
			if _, err := add(data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return oids, errors.Join(failed, err)
	}
	mode, todo = HashAndStore, rest
	if len(todo) == 0 {
		return oids, failed
	}
	return oids, errors.Join(failed, r.Loose.Quarantine(hash))
}

// hashing says whether the blobs are stored, and where.
type hashing struct {
	mode HashMode
	env  []string
}

// hashEach hashes all of todo. The errors of single files are in failed.
func hashEach(ctx context.Context, r *Repo, how hashing, todo []string, oids map[string]OID) (failed []error, err error) {
	for len(todo) > 0 {
		done, err := hashSome(ctx, r, how, todo, oids)
		todo = todo[done:]
		if err == nil {
			break
		}
		if _, ok := errors.AsType[*ExitError](err); !ok || len(todo) == 0 {
			return failed, err
		}
		bad := todo[0]
		todo = todo[1:]
		if !isReadable(r, bad) {
			continue // it was removed meanwhile
		}
		failed = append(failed, fmt.Errorf("hash %q: %w", bad, err))
		if len(failed) == maxHashFailures {
			break
		}
	}
	return failed, nil
}

func isReadable(r *Repo, path string) bool {
	full := filepath.Join(r.Root, filepath.FromSlash(path))
	info, err := os.Lstat(full)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(full)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// hashSome hashes paths until one fails and returns the number of hashed ones.
func hashSome(ctx context.Context, r *Repo, how hashing, paths []string, oids map[string]OID) (int, error) {
	args := []string{"-c", "core.safecrlf=false", "hash-object", "--stdin-paths"}
	if how.mode == HashAndStore {
		args = append(args, "-w")
		for _, p := range paths {
			if err := disk.Step("object", p); err != nil {
				return 0, err
			}
		}
	}
	var in strings.Builder
	for _, p := range paths {
		in.WriteString(plain.GitPath(p))
		in.WriteByte('\n')
	}
	out, err := r.Do(ctx, Command{Args: args, Stdin: strings.NewReader(in.String()), Env: how.env})
	done := 0
	for line := range strings.Lines(string(out)) {
		oid := OID(strings.TrimSuffix(line, "\n"))
		if !r.Format.Valid(oid) || done == len(paths) {
			return done, errors.Join(err, fmt.Errorf("git hash-object: unknown line %q", line))
		}
		oids[paths[done]] = oid
		done++
	}
	if err == nil && done < len(paths) {
		return done, fmt.Errorf("git hash-object: %d of %d results", done, len(paths))
	}
	return done, err
}
