package diff

import (
	"math/bits"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
)

// BisectResult is the result of running the command for a snapshot.
type BisectResult string

// The results.
const (
	BisectGood BisectResult = "good"
	BisectBad  BisectResult = "bad"
	BisectSkip BisectResult = "skip"
)

// Exit statuses of the command with a special meaning, as in `git bisect run`.
const (
	exitSkip    = 125
	lastFailure = 127
)

// bisectResultOf returns the meaning of an exit status; false if it ends the search.
func bisectResultOf(status int) (BisectResult, bool) {
	switch {
	case status == 0:
		return BisectGood, true
	case status == exitSkip:
		return BisectSkip, true
	case status > 0 && status <= lastFailure:
		return BisectBad, true
	}
	return "", false
}

// BisectStep is the next step of a search.
type BisectStep struct {
	// Version is the snapshot to try; 0: the search is over.
	Version bands.Version
	// Repeat reports whether it was tried before, and is tried again to check that the result is
	// the same.
	Repeat bool
	// Left is the number of snapshots that may be the first bad one, Steps the approximate number
	// of runs to find it.
	Left, Steps int
}

// BisectOutcome is the result of a search. Good is the last good snapshot and Bad the first bad one
// after it; those between them were skipped.
type BisectOutcome struct {
	Good, Bad bands.Version
	Skipped   []bands.Version
	// Unsteady are snapshots with different results in two runs.
	Unsteady []bands.Version
}

// BisectEndError means that an end of the range has the wrong result: the first snapshot must be
// good, the last one bad.
type BisectEndError struct {
	Version bands.Version
	Result  BisectResult
	First   bool
}

// Error describes the result of the end.
func (e *BisectEndError) Error() string {
	which, want := "last", BisectBad
	if e.First {
		which, want = "first", BisectGood
	}
	return e.Version.String() + ", the " + which + " snapshot, is " + string(e.Result) + ", not " + string(want)
}

// next returns the next step, or a *BisectEndError. The last snapshot is tried first, then the
// first, then the one in the middle of the remaining ones.
func (s *BisectState) next() (BisectStep, error) {
	results := s.results()
	first, last := s.Versions[0], s.Versions[len(s.Versions)-1]
	for _, end := range []struct {
		version bands.Version
		want    BisectResult
	}{{last, BisectBad}, {first, BisectGood}} {
		switch got := results[end.version]; got {
		case "":
			n := len(s.Versions) - 1
			return BisectStep{Version: end.version, Left: n, Steps: stepsFor(n)}, nil
		case end.want:
		default:
			return BisectStep{}, &BisectEndError{Version: end.version, Result: got, First: end.want == BisectGood}
		}
	}
	low, high := s.bounds(results)
	if v := middleVersion(s.Versions[low+1:high], results); v != 0 {
		return BisectStep{Version: v, Left: high - low, Steps: stepsFor(high - low)}, nil
	}
	if s.Repeat {
		runs := map[bands.Version]int{}
		for _, r := range s.Runs {
			runs[r.Version]++
		}
		for _, v := range []bands.Version{s.Versions[low], s.Versions[high]} {
			if runs[v] == 1 {
				return BisectStep{Version: v, Repeat: true, Left: 1}, nil
			}
		}
	}
	return BisectStep{}, nil
}

// stepsFor returns the number of runs that find one of n snapshots.
func stepsFor(n int) int { return bits.Len(uint(max(n-1, 0))) }

// middleVersion returns the snapshot nearest to the middle without a result, 0 if there is none.
func middleVersion(list []bands.Version, results map[bands.Version]BisectResult) bands.Version {
	for d := 0; d <= len(list); d++ {
		for _, i := range []int{len(list)/2 - d, len(list)/2 + d} {
			if i >= 0 && i < len(list) && results[list[i]] == "" {
				return list[i]
			}
		}
	}
	return 0
}

// bounds returns the indexes of the last good snapshot and the first bad one after it.
func (s *BisectState) bounds(results map[bands.Version]BisectResult) (low, high int) {
	high = len(s.Versions) - 1
	for i, v := range s.Versions {
		switch results[v] {
		case BisectGood:
			low = i
		case BisectBad:
			return low, i
		case BisectSkip:
		}
	}
	return low, high
}

// results returns the results so far; with several runs of a snapshot, the first.
func (s *BisectState) results() map[bands.Version]BisectResult {
	all := map[bands.Version]BisectResult{}
	for _, r := range s.Runs {
		if all[r.Version] == "" {
			all[r.Version] = r.Result
		}
	}
	return all
}

// Outcome returns the result of the search; false if it isn't over.
func (s *BisectState) Outcome() (BisectOutcome, bool) {
	next, err := s.next()
	if err != nil || next.Version != 0 {
		return BisectOutcome{}, false
	}
	results := s.results()
	low, high := s.bounds(results)
	found := BisectOutcome{Good: s.Versions[low], Bad: s.Versions[high], Skipped: slices.Clone(s.Versions[low+1 : high])}
	for _, r := range s.Runs {
		if r.Result != results[r.Version] && !slices.Contains(found.Unsteady, r.Version) {
			found.Unsteady = append(found.Unsteady, r.Version)
		}
	}
	return found, true
}
