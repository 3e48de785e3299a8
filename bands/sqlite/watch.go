package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// The bytes of the main file that a connection in rollback mode locks.
const (
	pendingByte = 0x40000000
	sharedFirst = pendingByte + 2
	sharedSize  = 510
)

// The bytes of the -shm file that a connection in WAL mode locks.
const (
	writeLock      = 120 // the first of all
	checkpointLock = 121
	firstMark      = 124 // read marks 1 to 4; 123 is that of the main file alone
	lastMark       = 127
	connectedLock  = 128 // shared while connected
	sharedLocks    = connectedLock - writeLock + 1
)

// watch detects writes to a unit while it is copied.
//
// In rollback mode the copy is valid if no process was writing to the main file, which the locks
// PENDING and EXCLUSIVE show: a journal that is being filled meanwhile only repeats content of the
// main file.
//
// In WAL mode the main file and the whole log are the database at any time, as long as the log
// isn't restarted: the log is copied last, so that it has all pages moved to the main file while
// that was copied. If a process is connected, locks prevent a restart; else a restart changes the
// log's header.
type watch struct {
	u       *unit
	wal     bool
	logHead []byte
	shm     *os.File
	shmStat dirfd.Stat
	locked  bool
}

// watch starts to watch the unit. The error is errMoved if it is being written.
func (u *unit) watch() (*watch, error) {
	log := &u.parts[logPart]
	w := &watch{u: u, wal: log.st.Size > 0 || len(u.head) >= 20 && (u.head[18] == 2 || u.head[19] == 2)}
	var err error
	if w.wal {
		// The log must not be restarted while a process is connected.
		name := Companions(u.parts[mainPart].name)[2]
		w.shmStat, err = look(u.dir, name)
		if err == nil && w.shmStat.Ino != 0 {
			err = w.lock(name)
		}
		if err == nil && log.exists() {
			w.logHead, err = readHead(log.file, logHeadSize)
		}
	} else {
		err = u.quiet()
	}
	// A change in the same tick of the file system's clock isn't visible.
	u.settled = w.locked || w.wal && log.st.Size > 0 || settled(u.parts[mainPart].st.Ctime, u.tick)
	if err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// quiet returns errMoved if a process may be writing to the main file.
func (u *unit) quiet() error {
	f := u.parts[mainPart].file
	for _, lock := range [...]struct{ start, n int64 }{{pendingByte, 1}, {sharedFirst, sharedSize}} {
		switch held, err := disk.OFDTest(f, false, lock.start, lock.n); {
		case err != nil && !cannotLock(err):
			return fmt.Errorf("capture database: %w", err)
		case held:
			return errMoved
		}
	}
	return nil
}

// cannotLock reports whether the error means that such locks aren't supported here.
func cannotLock(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOLCK)
}

// logHeadSize is the length of a log's header, which gets a new salt when the log is restarted.
const logHeadSize = 32

// lock takes the two locks, if a process is connected.
func (w *watch) lock(name string) error {
	// Open it for writing if permitted: an exclusive lock needs that. Nothing is written to it. The
	// open never blocks and follows no link.
	shm, err := os.OpenFile(filepath.Join(w.u.dir.Path(), name), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	writable := err == nil
	if !writable {
		shm, err = w.u.dir.OpenFile(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errMoved
	case err != nil:
		return fmt.Errorf("capture database: %w", err)
	}
	w.shm = shm
	var st dirfd.Stat
	if err := dirfd.StatFile(shm, &st); err != nil {
		return fmt.Errorf("capture database: %w", err)
	}
	if !sameFile(st, w.shmStat) {
		return errMoved
	}
	if live, err := connected(shm); err != nil || !live {
		// The first process to connect rebuilds the index, and would wait for our lock.
		return err
	}
	// If the index isn't initialized, a process is about to rebuild it, and needs the checkpoint
	// lock for that.
	const indexHeader, isInit = 48, 12 // the header is stored twice
	head, err := readHead(shm, 2*indexHeader)
	if err != nil {
		return err
	}
	if len(head) != 2*indexHeader || head[isInit] != 1 || head[indexHeader+isInit] != 1 {
		return errMoved
	}
	// No checkpoint begins while this lock is held: a writer then skips it, and makes it after a
	// later commit. If -shm isn't writable, a shared lock is used; it blocks a checkpoint, too.
	switch err := disk.OFDLock(shm, writable, checkpointLock, 1); {
	case errors.Is(err, disk.ErrLocked):
		return errMoved
	case err != nil && cannotLock(err):
		return nil
	case err != nil:
		return fmt.Errorf("capture database: %w", err)
	}
	w.locked = true
	// To restart the log, a writer needs all read marks. Without them it appends. Readers use the
	// last mark least.
	for mark := int64(lastMark); mark >= firstMark; mark-- {
		err := disk.OFDLock(shm, false, mark, 1)
		if err == nil {
			return nil
		}
		if !errors.Is(err, disk.ErrLocked) {
			return fmt.Errorf("capture database: %w", err)
		}
	}
	return errMoved
}

// connected reports whether a process is connected in WAL mode.
func connected(shm *os.File) (bool, error) {
	live, err := disk.OFDTest(shm, true, connectedLock, 1)
	if err != nil && !cannotLock(err) {
		return false, fmt.Errorf("capture database: %w", err)
	}
	return live, nil
}

// end releases the locks. It may be called again.
func (w *watch) end() {
	if w.locked {
		_ = disk.OFDUnlock(w.shm, writeLock, sharedLocks)
		w.locked = false
	}
	if w.shm != nil {
		_ = w.shm.Close()
		w.shm = nil
	}
}

// check returns errMoved if the unit was written to.
func (w *watch) check() error {
	u := w.u
	for i := range u.parts {
		p := &u.parts[i]
		st, err := look(u.dir, p.name)
		if err != nil {
			return err
		}
		growing := i == logPart && w.wal && p.exists() && sameFile(st, p.st) && st.Size >= p.st.Size
		unchanged := sameFile(st, p.st) && st.Size == p.st.Size && st.Mtime == p.st.Mtime && st.Ctime == p.st.Ctime
		if !growing && !unchanged {
			return errMoved
		}
	}
	quiet := u.quiet
	if w.wal {
		quiet = w.checkLog
	}
	if err := quiet(); err != nil {
		return err
	}
	main := &u.parts[mainPart]
	head, err := readHead(main.file, headSize)
	if err != nil {
		return err
	}
	if !bytes.Equal(head, u.head) {
		return errMoved
	}
	if u.settled {
		return nil
	}
	return main.sameContent()
}

// checkLog returns errMoved if the log was restarted, or a process has connected.
func (w *watch) checkLog() error {
	u := w.u
	if log := &u.parts[logPart]; log.exists() {
		head, err := readHead(log.file, logHeadSize)
		if err != nil {
			return err
		}
		// A log without a header has no older frames that could be mistaken for those after the
		// first header.
		first := w.locked && len(w.logHead) == 0
		if !first && !bytes.Equal(head, w.logHead) {
			return errMoved
		}
	}
	st, err := look(u.dir, Companions(u.parts[mainPart].name)[2])
	if err != nil {
		return err
	}
	if !sameFile(st, w.shmStat) {
		return errMoved
	}
	if w.locked || w.shm == nil {
		return nil
	}
	live, err := connected(w.shm)
	if err == nil && live {
		err = errMoved
	}
	return err
}
