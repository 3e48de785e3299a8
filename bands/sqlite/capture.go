package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// Take receives one file of a database. Its content is the first st.Size bytes of f, to be read by
// offset (ReadAt). f may be a private copy of the file, so its other attributes are meaningless,
// and the file itself may be growing. st has the file's attributes, read by name; extended
// attributes have to be read from the file of that name.
//
// The main file comes first. If it comes again, all files taken before are invalid.
type Take func(name string, f *os.File, st dirfd.Stat) error

// privateLimit is the maximum size of a file that is copied into memory, so that take can work
// while the file changes. A larger one is cloned if the file system can, else read in place.
const privateLimit = 64 << 20

// The pauses between attempts vary, as a writer may commit in a fixed rhythm.
const (
	pause      = 100 * time.Microsecond
	pauseBeats = 5
)

// errMoved means that the copies are not of one point in time.
var errMoved = errors.New("the database changed meanwhile")

// Capture passes the files of the database main in the directory dir to take, as they were at one
// point in time: those of main, -journal and -wal that exist; never -shm. The taken files, put into
// a directory without a -shm, are the database with all transactions that had been committed then
// and nothing of any other.
//
// It never makes a writer wait or fail, and leaves no lock. If the database is always in motion, it
// tries again until patience is over; then the error is ErrBusy. This process must not have the
// database open itself: the locks that SQLite holds would be lost.
func Capture(ctx context.Context, dir, main string, patience time.Duration, take Take) error {
	return capturer{limit: privateLimit}.run(ctx, Place{Dir: dir, Main: main}, patience, take)
}

// capturer is Capture with the maximum size of files to copy into memory.
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

// once is one attempt: the error is errMoved if another is needed.
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
		// A part that can't be read in place may have been truncated meanwhile.
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
