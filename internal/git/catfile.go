package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// catFile reads objects through one `git cat-file --batch`, which is started on demand. Its methods
// are safe for concurrent use.
type catFile struct {
	processes *processes
	format    Format

	mu    sync.Mutex // guards batch, the order of its requests, and lazy
	batch *batch
	lazy  bool // reads may fetch
}

// read reads an object of at most limit bytes.
func (c *catFile) read(ctx context.Context, spec string, limit int64) (Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.batch == nil {
		b, err := startBatch(ctx, c.processes, c.lazy)
		if err != nil {
			return Object{}, fmt.Errorf("read %s: %w", spec, err)
		}
		c.batch = b
	}
	stop := context.AfterFunc(ctx, c.batch.kill)
	object, err := c.batch.read(spec, c.format, limit)
	if !stop() {
		err = context.Cause(ctx) // the process is being killed
	}
	if err == nil || errors.Is(err, errReply) {
		switch {
		case err == nil:
			return object, nil
		case errors.Is(err, ErrMissing):
			return object, fmt.Errorf("read %s: %w", spec, ErrMissing)
		default:
			return object, fmt.Errorf("read %s: ambiguous name", spec)
		}
	}
	// The process has exited or is out of step: the next read starts another.
	b := c.batch
	c.batch = nil
	b.kill()
	exit, failed := errors.AsType[*exec.ExitError](b.cmd.Wait())
	switch failed = failed && b.stderr.buf.Len() > 0; {
	case errors.Is(err, ErrTooMuch):
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case failed && strings.Contains(b.stderr.String(), "promisor"):
		err = ErrMissing // missing here, and fetching is not permitted
	case failed:
		err = &ExitError{Args: b.cmd.Args[1:], Code: exit.ExitCode(), Stderr: b.stderr.String()}
	}
	return Object{}, fmt.Errorf("read %s: %w", spec, err)
}

// running reports whether the process has been started.
func (c *catFile) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.batch != nil
}

// fetchLazily ends the process, and lets the next one fetch missing objects.
func (c *catFile) fetchLazily() error {
	err := c.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lazy = true
	return err
}

// close ends the process, if there is one.
func (c *catFile) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.batch == nil {
		return nil
	}
	b := c.batch
	c.batch = nil
	defer b.kill()
	if err := b.in.Close(); err != nil {
		b.kill()
	}
	if err := b.cmd.Wait(); err != nil {
		return fmt.Errorf("end git cat-file: %w", err)
	}
	return nil
}

// batch is a running `git cat-file --batch`.
type batch struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *capture
	kill   context.CancelFunc
}

// errReply marks a failure that the process reported and survived.
var errReply = errors.New("reply")

// streamLarge returns arguments that make git stream a large blob rather than load it first, as the
// caller may reject the blob by its size, and map small parts of packs rather than whole ones.
func streamLarge() []string {
	return []string{"-c", "core.bigFileThreshold=1m", "-c", "core.packedGitWindowSize=1m", "-c", "core.packedGitLimit=64m"}
}

func (b *batch) read(spec string, format Format, limit int64) (Object, error) {
	if _, err := io.WriteString(b.in, spec+"\n"); err != nil {
		return Object{}, err
	}
	line, err := b.out.ReadString('\n')
	if err != nil {
		return Object{}, err
	}
	object, size, ok := parseReply(line, format)
	if !ok {
		return Object{}, replyError(line)
	}
	if size > limit {
		return Object{}, fmt.Errorf("%s of %d bytes, at most %d are read: %w", object.Type, size, limit, ErrTooMuch)
	}
	object.Data = make([]byte, size)
	if _, err := io.ReadFull(b.out, object.Data); err != nil {
		return Object{}, err
	}
	if end, err := b.out.ReadByte(); err != nil || end != '\n' {
		return Object{}, errors.Join(errors.New("reply out of step"), err)
	}
	return object, nil
}

// parseReply parses "<oid> <type> <size>". Replies that repeat the request end with a word, never
// with a number.
func parseReply(line string, format Format) (Object, int64, bool) {
	fields := strings.Split(strings.TrimSuffix(line, "\n"), " ")
	if len(fields) != 3 || !format.Valid(OID(fields[0])) {
		return Object{}, 0, false
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return Object{}, 0, false
	}
	return Object{OID: OID(fields[0]), Type: fields[1]}, size, true
}

func replyError(line string) error {
	switch {
	case strings.HasSuffix(line, " missing\n"), strings.HasSuffix(line, " submodule\n"):
		return errors.Join(errReply, ErrMissing)
	case strings.HasSuffix(line, " ambiguous\n"):
		return errReply
	}
	return fmt.Errorf("unknown reply %q", line)
}

func startBatch(ctx context.Context, p *processes, lazy bool) (*batch, error) {
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	q := Command{Args: append(streamLarge(), "cat-file", "--batch"), LazyFetch: lazy}
	cmd, stderr := p.command(life, q)
	cmd.Cancel = func() error { return cmd.Process.Kill() } // it only reads
	b := &batch{cmd: cmd, stderr: stderr, kill: kill}
	in, err := cmd.StdinPipe()
	if err != nil {
		kill()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		kill()
		return nil, err
	}
	b.in, b.out = in, bufio.NewReaderSize(out, 32<<10)
	if err := cmd.Start(); err != nil {
		kill()
		return nil, err
	}
	return b, nil
}
