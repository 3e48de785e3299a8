package git

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Keep says whether the object is there as a loose one, and is one that git's
// prune leaves alone for as long as one that is new.
func (r *Repo) Keep(oid OID) bool {
	if !r.Format.Valid(oid) {
		return false
	}
	if r.isPending(oid) {
		return true
	}
	path := r.loosePath(oid)
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0 && freshen(path) == nil
}

// Absent answers which of the objects are not there. That one is damaged isn't
// noticed.
func (r *Repo) Absent(ctx context.Context, oids []OID) ([]OID, error) {
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
	out, err := r.run(ctx, request{args: args, stdin: strings.NewReader(in.String())})
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
