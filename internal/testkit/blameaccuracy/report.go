package blameaccuracy

import (
	"fmt"
	"strings"
)

// Add adds the lines of another history.
func (r *Result) Add(o Result) {
	r.Total = r.Total.Add(o.Total)
	for kind, count := range o.ByKind {
		r.ByKind[kind] = r.ByKind[kind].Add(count)
	}
	r.Failures = append(r.Failures, o.Failures...)
}

// String is one line.
func (f Failure) String() string {
	how := "unknown"
	if f.Wrong {
		how = "WRONG"
	}
	kinds := make([]string, 0, len(f.Kinds))
	for _, k := range f.Kinds {
		kinds = append(kinds, string(k))
	}
	return fmt.Sprintf("seed %d %s %s: is of %s, blame %s has %s (%s)", f.Seed, f.Place, how, f.Want, f.Commit, f.Got, strings.Join(kinds, ", "))
}
