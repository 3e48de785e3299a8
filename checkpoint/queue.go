package checkpoint

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// The queue of refs of checkpoints for the next push is a file in the common directory, shared with
// other programs: a line {"ref":"refs/entire/checkpoints/..."} for each change, under the lock of the
// file beside it. A ref is removed after a push of it has succeeded.
const (
	queueFile = "entire-checkpoint-push-queue.jsonl"
	queueLock = "entire-checkpoint-push-queue.lock"
	// queueWait is how long a process waits for the lock, which others hold for milliseconds.
	queueWait = time.Second
	// queueTail is the number of bytes at the end of the queue in which a ref is searched before it is
	// added: a checkpoint is changed several times in a row.
	queueTail = 4096
	// maxQueue is the maximum size of the queue that is read.
	maxQueue = 64 << 20
)

// queued is a line of the queue.
type queued struct {
	Ref string `json:"ref"`
}

// QueuePath returns the path of the queue of refs to push, QueueLockPath that of its lock.
func QueuePath(commonDir string) string { return filepath.Join(commonDir, queueFile) }

// QueueLockPath returns the path of the lock of the queue.
func QueueLockPath(commonDir string) string { return filepath.Join(commonDir, queueLock) }

// Enqueue adds refs to the queue of refs to push. It doesn't wait until the disk has them, and if another
// process holds the lock for long it adds them without it: a checkpoint is more important.
func Enqueue(ctx context.Context, commonDir string, refs ...string) error {
	if len(refs) == 0 {
		return nil
	}
	add := func() error {
		path := QueuePath(commonDir)
		file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		tail, err := io.ReadAll(io.NewSectionReader(file, max(info.Size()-queueTail, 0), queueTail))
		if err != nil {
			return err
		}
		var lines bytes.Buffer
		if len(tail) > 0 && tail[len(tail)-1] != '\n' {
			lines.WriteByte('\n') // after the line of a process that was killed
		}
		for _, ref := range refs {
			line, err := json.Marshal(queued{ref})
			if err != nil {
				return err
			}
			if !bytes.Contains(tail, append(line, '\n')) {
				lines.Write(append(line, '\n'))
			}
		}
		if lines.Len() == 0 {
			return nil
		}
		if err := disk.Step("append", path); err != nil {
			return err
		}
		_, err = file.Write(lines.Bytes())
		return err
	}
	err := withQueue(ctx, commonDir, add)
	if errors.Is(err, disk.ErrLocked) {
		err = add()
	}
	return err
}

// Queued returns the refs in the queue, each once, the oldest first. Lines that name no ref of a
// checkpoint are left out.
func Queued(commonDir string) ([]string, error) {
	refs, _, err := readQueue(commonDir)
	return refs, err
}

// Dequeue removes the refs for which done returns true from the queue, and moves those in last to its
// end. It returns the number of refs that remain.
func Dequeue(ctx context.Context, commonDir string, last []string, done func(ref string) bool) (left int, err error) {
	err = withQueue(ctx, commonDir, func() error {
		refs, lines, err := readQueue(commonDir)
		if err != nil || lines == 0 {
			return err
		}
		before := slices.Clone(refs)
		refs = slices.DeleteFunc(refs, func(ref string) bool { return done(ref) || slices.Contains(last, ref) })
		for _, ref := range last {
			if !done(ref) && slices.Contains(before, ref) {
				refs = append(refs, ref)
			}
		}
		if left = len(refs); lines == len(refs) && slices.Equal(before, refs) {
			return nil
		}
		var text bytes.Buffer
		for _, ref := range refs {
			line, err := json.Marshal(queued{ref})
			if err != nil {
				return err
			}
			text.Write(append(line, '\n'))
		}
		return disk.WriteDurable(QueuePath(commonDir), text.Bytes(), 0o600)
	})
	return left, err
}

// readQueue returns the refs in the queue, and the number of its lines.
func readQueue(commonDir string) (refs []string, lines int, err error) {
	file, err := os.Open(QueuePath(commonDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the queue of checkpoints: %w", err)
	}
	defer func() { _ = file.Close() }()
	seen := map[string]bool{}
	text := bufio.NewScanner(io.LimitReader(file, maxQueue))
	for text.Scan() {
		lines++
		var q queued
		if json.Unmarshal(text.Bytes(), &q) != nil || seen[q.Ref] {
			continue
		}
		if _, ok := ParseRef(q.Ref); ok {
			seen[q.Ref], refs = true, append(refs, q.Ref)
		}
	}
	if err := text.Err(); err != nil {
		return nil, 0, fmt.Errorf("read the queue of checkpoints: %w", err)
	}
	return refs, lines, nil
}

// withQueue calls do with the lock of the queue.
func withQueue(ctx context.Context, commonDir string, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, queueWait)
	defer cancel()
	lock, err := disk.AcquireLock(ctx, QueueLockPath(commonDir))
	if err != nil {
		return fmt.Errorf("queue checkpoints for a push: %w", err)
	}
	if err := errors.Join(do(), lock.Unlock()); err != nil {
		return fmt.Errorf("queue checkpoints for a push: %w", err)
	}
	return nil
}
