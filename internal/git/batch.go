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
)

// Object is an object as the repository has it.
type Object struct {
	OID  OID
	Type string // commit, tree, blob, tag
	Data []byte
}

// batch is a running `git cat-file --batch`.
type batch struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *capture
	kill   context.CancelFunc
}

// readLimit bounds what Read takes into memory.
const readLimit = 256 << 20

// Read gives the object that spec names, in any way git understands: an OID, a
// ref, "HEAD^{tree}", "HEAD:path", ":path" for the index. The error is
// ErrMissing if there is none, and ErrTooMuch above 256 MiB. Loose objects are read
// from their files; all other reads share one git process.
func (r *Repo) Read(ctx context.Context, spec string) (Object, error) {
	return r.ReadWithin(ctx, spec, readLimit)
}

// ReadWithin is Read of an object of at most limit bytes: ErrTooMuch if it has
// more. That costs the git process, as the rest would have to be read.
func (r *Repo) ReadWithin(ctx context.Context, spec string, limit int64) (Object, error) {
	if spec == "" || strings.ContainsAny(spec, "\n\x00") || strings.HasSuffix(spec, "\r") {
		return Object{}, fmt.Errorf("read %q: not an object's name", spec)
	}
	if object, found, err := r.readPending(spec); found || err != nil {
		return object, err
	}
	if err := ctx.Err(); err != nil {
		return Object{}, fmt.Errorf("read %s: %w", spec, err)
	}
	if object, err := r.readLoose(spec, limit); err == nil {
		return object, nil
	} else if !errors.Is(err, errAskGit) {
		return Object{}, fmt.Errorf("read %s: %w", spec, err)
	}
	r.batchMu.Lock()
	defer r.batchMu.Unlock()
	if r.batch == nil {
		b, err := r.startBatch(ctx)
		if err != nil {
			return Object{}, fmt.Errorf("read %s: %w", spec, err)
		}
		r.batch = b
	}
	stop := context.AfterFunc(ctx, r.batch.kill)
	object, err := r.batch.read(spec, r.Format, limit)
	if !stop() {
		err = context.Cause(ctx) // the process is being killed
	}
	if err == nil || errors.Is(err, errReply) {
		return object, unwrapReply(spec, err)
	}
	// The process is gone or out of step: the next read starts another.
	b := r.batch
	r.batch = nil
	return Object{}, fmt.Errorf("read %s: %w", spec, b.fail(ctx, err))
}

// errReply marks a failure that the process reported and survived.
var errReply = errors.New("reply")

func unwrapReply(spec string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrMissing):
		return fmt.Errorf("read %s: %w", spec, ErrMissing)
	}
	return fmt.Errorf("read %s: ambiguous name", spec)
}

// ReadLazily lets later reads fetch what a partial clone has left at its remote.
func (r *Repo) ReadLazily() error {
	err := r.Close()
	r.batchMu.Lock()
	defer r.batchMu.Unlock()
	r.lazy = true
	return err
}

// streamLarge are the arguments with which git does not take a blob into memory whole
// before it prints it: it may be refused by its size.
func streamLarge() []string { return []string{"-c", "core.bigFileThreshold=1m"} }

func (r *Repo) startBatch(ctx context.Context) (*batch, error) {
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	q := Command{Args: append(streamLarge(), "cat-file", "--batch"), LazyFetch: r.lazy}
	cmd, stderr := r.command(life, q)
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

// parseReply reads "<oid> <type> <size>". Replies that repeat the request end
// with a word, never with a number.
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

// fail ends a process that can't go on and says why.
func (b *batch) fail(ctx context.Context, err error) error {
	b.kill()
	waitErr := b.cmd.Wait()
	if errors.Is(err, ErrTooMuch) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*exec.ExitError](waitErr); ok && b.stderr.buf.Len() > 0 {
		if strings.Contains(b.stderr.String(), "promisor") {
			return ErrMissing // not here, and not to be fetched
		}
		return &ExitError{Args: b.cmd.Args[1:], Code: exit.ExitCode(), Stderr: b.stderr.String()}
	}
	return err
}

// Close ends the process that reads objects, if there is one. A later read
// starts another.
func (r *Repo) Close() error {
	r.discard()
	r.batchMu.Lock()
	defer r.batchMu.Unlock()
	if r.batch == nil {
		return nil
	}
	b := r.batch
	r.batch = nil
	defer b.kill()
	if err := b.in.Close(); err != nil {
		b.kill()
	}
	if err := b.cmd.Wait(); err != nil {
		return fmt.Errorf("end git cat-file: %w", err)
	}
	return nil
}
