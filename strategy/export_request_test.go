package strategy

import (
	"context"

	"github.com/seed-3aff656d/entire/bands"
)

// Served is served for what Requests returned.
var Served = served

// Affordable is affordable, by sizes.
func Affordable(most int, bytes int64, sizes ...int64) []string {
	files := make([]sizedPath, len(sizes))
	for i, size := range sizes {
		files[i] = sizedPath{path: string(rune('a' + i)), size: size}
	}
	return affordable(files, most, bytes)
}

// Ask asks for a snapshot.
func (r *Recorder) Ask(cause bands.Cause, turn, id string) error {
	q := request{Cause: cause, Causality: bands.Causality{Turn: turn}}
	if cause == bands.Commit {
		q.Pair = id
	}
	return r.request(q, id)
}

// Requests is requests.
func (r *Recorder) Requests(ctx context.Context) []request { return r.requests(ctx) }

// Turn is the turn that it was asked for in.
func (q request) Turn() string { return q.Causality.Turn }

// Miss is miss.
func (q request) Miss() error { return miss(q) }

// RequestDir is the folder of the requests.
func (r *Recorder) RequestDir() string { return r.requestDir() }
