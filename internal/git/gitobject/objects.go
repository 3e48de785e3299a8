// Package gitobject lists the objects of a repository and those reachable from its refs, and
// removes objects from packs. Contents are read with git.Repo.
package gitobject

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Info is an object of the repository without its content.
type Info struct {
	OID  git.OID
	Type string
	Size int64
}

// All lists every stored object, referenced or not, including those of alternates.
func All(ctx context.Context, r *git.Repo) ([]Info, error) {
	out, err := r.Run(ctx, "cat-file", "--batch-all-objects", "--batch-check", "--buffer", "--unordered")
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	var list []Info
	for line := range strings.Lines(string(out)) {
		const words = 3
		f := strings.Fields(line)
		if len(f) != words || !r.Format.Valid(git.OID(f[0])) {
			continue // a damaged object
		}
		size, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("list objects: unknown line %q", line)
		}
		list = append(list, Info{git.OID(f[0]), f[1], size})
	}
	return list, nil
}

// Reachable returns every object reachable from the revisions, which may be options of git rev-list
// such as --all and --reflog. Missing objects are left out.
func Reachable(ctx context.Context, r *git.Repo, revs ...string) (map[git.OID]bool, error) {
	args := append([]string{"rev-list", "--objects", "--no-object-names", "--missing=allow-any"}, revs...)
	out, err := r.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list reachable objects: %w", err)
	}
	set := map[git.OID]bool{}
	for line := range strings.Lines(string(out)) {
		set[git.OID(strings.TrimSpace(line))] = true
	}
	return set, nil
}

// Missing returns those of the objects that the repository doesn't have. It does not detect damaged
// ones.
func Missing(ctx context.Context, r *git.Repo, oids []git.OID) ([]git.OID, error) {
	if len(oids) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, oid := range oids {
		if !r.Format.Valid(oid) {
			return nil, fmt.Errorf("look for objects: %q is no object id", oid)
		}
		in.WriteString(string(oid) + "\n")
	}
	args := []string{"cat-file", "--batch-check=%(objectname)", "--buffer"}
	out, err := r.Do(ctx, git.Command{Args: args, Stdin: strings.NewReader(in.String())})
	if err != nil {
		return nil, err
	}
	var absent []git.OID
	for line := range strings.Lines(string(out)) {
		if oid, missing := strings.CutSuffix(strings.TrimSuffix(line, "\n"), " missing"); missing {
			absent = append(absent, git.OID(oid))
		}
	}
	return absent, nil
}

// Sizes returns the sizes of objects in bytes, 0 for objects that the repository doesn't have.
func Sizes(ctx context.Context, r *git.Repo, oids []git.OID) ([]int64, error) {
	if len(oids) == 0 {
		return nil, nil
	}
	var names strings.Builder
	for _, oid := range oids {
		names.WriteString(string(oid) + "\n")
	}
	out, err := r.Do(ctx, git.Command{
		Args: []string{"cat-file", "--batch-check=%(objectsize)"}, Stdin: strings.NewReader(names.String()),
	})
	if err != nil {
		return nil, err
	}
	sizes := make([]int64, 0, len(oids))
	for line := range strings.Lines(string(out)) {
		size, err := strconv.ParseInt(strings.TrimSuffix(line, "\n"), 10, 64)
		if err != nil {
			size = 0 // "<name> missing"
		}
		sizes = append(sizes, size)
	}
	if len(sizes) != len(oids) {
		return nil, fmt.Errorf("sizes of %d objects: git gave %d", len(oids), len(sizes))
	}
	return sizes, nil
}
