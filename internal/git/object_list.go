package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// ObjectInfo is an object of the repository without its content.
type ObjectInfo struct {
	OID  OID
	Type string
	Size int64
}

// AllObjects lists every stored object, referenced or not, including those of alternates.
func AllObjects(ctx context.Context, r *Repo) ([]ObjectInfo, error) {
	out, err := r.Run(ctx, "cat-file", "--batch-all-objects", "--batch-check", "--buffer", "--unordered")
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	var list []ObjectInfo
	for line := range strings.Lines(string(out)) {
		const words = 3
		f := strings.Fields(line)
		if len(f) != words || !r.Format.Valid(OID(f[0])) {
			continue // a damaged object
		}
		size, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("list objects: unknown line %q", line)
		}
		list = append(list, ObjectInfo{OID(f[0]), f[1], size})
	}
	return list, nil
}

// ReachableObjects returns every object reachable from the revisions, which may be options of git
// rev-list such as --all and --reflog. Missing objects are left out.
func ReachableObjects(ctx context.Context, r *Repo, revs ...string) (map[OID]bool, error) {
	args := append([]string{"rev-list", "--objects", "--no-object-names", "--missing=allow-any"}, revs...)
	out, err := r.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("list reachable objects: %w", err)
	}
	set := map[OID]bool{}
	for line := range strings.Lines(string(out)) {
		set[OID(strings.TrimSpace(line))] = true
	}
	return set, nil
}

// MissingObjects returns those of the objects that the repository doesn't have. It does not detect
// damaged ones.
func MissingObjects(ctx context.Context, r *Repo, oids []OID) ([]OID, error) {
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
	out, err := r.Do(ctx, Command{Args: args, Stdin: strings.NewReader(in.String())})
	if err != nil {
		return nil, err
	}
	var absent []OID
	for line := range strings.Lines(string(out)) {
		if oid, missing := strings.CutSuffix(strings.TrimSuffix(line, "\n"), " missing"); missing {
			absent = append(absent, OID(oid))
		}
	}
	return absent, nil
}

// ObjectSizes returns the sizes of objects in bytes, 0 for objects that the repository doesn't
// have.
func ObjectSizes(ctx context.Context, r *Repo, oids []OID) ([]int64, error) {
	if len(oids) == 0 {
		return nil, nil
	}
	var names strings.Builder
	for _, oid := range oids {
		names.WriteString(string(oid) + "\n")
	}
	out, err := r.Do(ctx, Command{
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
