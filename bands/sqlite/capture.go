package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// Take receives one file of a database. Its content is the first st.Size bytes
// of f, to be read by offset (ReadAt): f may be a private copy of the file, so
// that nothing else about f counts, and the file itself may be growing. All
// else is as st says, which was asked by name; extended attributes are to be
// read from the file of that name.
//
// The main file comes first. If it comes again, then all that was taken before
// it doesn't count.
type Take func(name string, f *os.File, st dirfd.Stat) error

// privateLimit is how large a file is copied into memory at most, so that what
// take does with it needs no quiet. A larger one is cloned if the file system
// can, else read in place.
const privateLimit = 64 << 20

// The pauses between attempts: a writer that commits in a fixed rhythm must not
// be met at the same beat each time.
const (
	pause      = 100 * time.Microsecond
	pauseBeats = 5
)

// errMoved means that what was copied is of no one point in time.
var errMoved = errors.New("the database was written meanwhile")

// Capture hands the files of the database main in the directory dir to take, as
// they were at one point in time: main, -journal and -wal, those that exist;
// never -shm. What was taken, put into a directory without a -shm, is the
// database with all transactions that had been committed then and nothing of
// any other.
//
// It never makes a writer wait or fail, and leaves no lock. If there is no quiet
// moment it tries again until patience is over; then the error is ErrBusy.
// This process must not have the database open itself: the locks that SQLite
// takes would be lost.
func Capture(ctx context.Context, dir, main string, patience time.Duration, take Take) error {
	return capturer{limit: privateLimit}.run(ctx, Place{Dir: dir, Main: main}, patience, take)
}

// capturer is Capture with the size up to which files are copied into memory.
type capturer struct{ limit int64 }

func (c capturer) run(ctx context.Context, at Place, patience time.Duration, take Take) error {
	dir, err := dirfd.OpenRoot(at.Dir)
	if err != nil {
		return fmt.Errorf("capture database: %w", err)
	}
	defer func() { _ = dir.Close() }()
	until := time.NewTimer(patience)
	defer until.Stop()
	for try := 0; ; try++ {
		err := c.once(dir, at.Main, take)
		if !errors.Is(err, errMoved) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("capture database %s: %w", at.Main, ctx.Err())
		case <-until.C:
			return fmt.Errorf("capture database %s: %w", at.Main, ErrBusy)
		case <-time.After(time.Duration(1+try%pauseBeats) * pause):
		}
	}
}

// once is one attempt: the error is errMoved if there has to be another.
func (c capturer) once(dir *dirfd.Dir, main string, take Take) error {
	u, err := openUnit(dir, main)
	defer u.close()
	if err != nil {
		return err
	}
	watch, err := u.watch()
	if err != nil {
		return err
	}
	defer watch.end()
	if err := u.copyAll(c.limit, take); err != nil {
		// What can't be read in place may have been cut off meanwhile.
		if u.inPlace() && errors.Is(watch.check(), errMoved) {
			return errMoved
		}
		return err
	}
	if err := watch.check(); err != nil {
		return err
	}
	watch.end()
	return u.handTo(partCount, take)
}
