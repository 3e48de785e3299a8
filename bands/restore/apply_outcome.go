package restore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
)

// ErrIncomplete means that a restore succeeded except for the paths in Result.Failed.
var ErrIncomplete = errors.New("not everything could be restored")

// Failure is a path that could not be restored.
type Failure struct {
	Path string
	Err  error
}

// outcome collects the results of the applied steps. Its methods are safe for concurrent use.
type outcome struct {
	Verified atomic.Int64 // files and symlinks that were written and checked
	Progress func(bands.Progress)

	mu          sync.Mutex
	Failed      []Failure
	Unset       []Failure // restored except for an attribute
	failedPaths map[string]bool
	fatal       error // stops the restore: no further step is begun
	done, Total int
	// written and Size are in bytes; Size is approximate.
	written, Size int64
}

// Fail records that a path could not be restored. Some errors stop the restore: each further path
// would fail too.
func (o *outcome) Fail(path string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fatal != nil {
		return
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		o.fatal = fmt.Errorf("restore %s: %w", path, err)
	}
	if !o.failedPaths[path] {
		o.failedPaths[path] = true
		o.Failed = append(o.Failed, Failure{path, err})
	}
}

// noteUnset records an attribute of a path that this user, or the file system, doesn't permit.
func (o *outcome) noteUnset(path string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Unset = append(o.Unset, Failure{path, err})
}

func (o *outcome) hasFailed(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failedPaths[path]
}

// ended reports whether an error or ctx has stopped the restore.
func (o *outcome) ended(ctx context.Context) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fatal == nil {
		o.fatal = ctx.Err()
	}
	return o.fatal != nil
}

// stopped reports whether an error has stopped the restore.
func (o *outcome) stopped() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.fatal != nil
}

// advance counts finished steps.
func (o *outcome) advance(n int) {
	if o.Progress == nil || n == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done += n
	o.report()
}

// wrote counts the bytes of a written file.
func (o *outcome) wrote(n int64) {
	if o.Progress == nil || n == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written += n
	o.report()
}

// report reports the progress; o.mu is held.
func (o *outcome) report() {
	o.Progress(bands.Progress{Stage: "restore", Done: int64(o.done), Total: int64(o.Total), Bytes: o.written, Size: o.Size})
}
