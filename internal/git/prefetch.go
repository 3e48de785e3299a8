package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxPrefetched is the size up to which ReadMany keeps an object's content.
const maxPrefetched = 1 << 20

// ReadMany reads the objects oids in one git process without waiting for each,
// and calls yield for every one that is there and has at most 1 MiB, in the
// order of oids. For thousands of objects it takes a fraction of the time of as
// many calls of Read.
func (r *Repo) ReadMany(ctx context.Context, oids []OID, yield func(Object) error) error {
	if len(oids) == 0 {
		return nil
	}
	cmd, stderr := r.command(ctx, request{args: []string{"cat-file", "--batch", "--buffer"}})
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("read objects: %w", err)
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		w := bufio.NewWriter(in)
		for _, oid := range oids {
			if _, err := w.WriteString(string(oid) + "\n"); err != nil {
				break // the process has ended: reading its replies returns the error
			}
		}
		_, _ = w.Flush(), in.Close()
	}()
	err = r.readReplies(bufio.NewReaderSize(out, 64<<10), len(oids), yield)
	if err != nil {
		_ = cmd.Process.Kill()
	}
	<-asked
	if failed := cmd.Wait(); err == nil && failed != nil {
		err = processError(ctx, cmd.Args[1:], stderr, failed)
	}
	if err != nil {
		return fmt.Errorf("read objects: %w", err)
	}
	return nil
}

// readReplies reads n replies of git cat-file.
func (r *Repo) readReplies(out *bufio.Reader, n int, yield func(Object) error) error {
	for range n {
		line, err := out.ReadString('\n')
		if err != nil {
			return err
		}
		object, size, ok := parseReply(line, r.Format)
		if !ok {
			if err := replyError(line); !errors.Is(err, errReply) {
				return err
			}
			continue // not there
		}
		if size > maxPrefetched {
			if _, err := io.CopyN(io.Discard, out, size+1); err != nil {
				return err
			}
			continue
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(out, data); err != nil {
			return err
		}
		object.Data = data[:size]
		if err := yield(object); err != nil {
			return err
		}
	}
	return nil
}

// PrefetchTrees reads trees that Tree is going to be called for. Those that
// can't be read are left to that call.
func (r *Repo) PrefetchTrees(ctx context.Context, oids []OID) error {
	r.treeMu.Lock()
	oids = slices.DeleteFunc(slices.Clone(oids), func(oid OID) bool {
		_, known := r.trees[oid]
		return known
	})
	r.treeMu.Unlock()
	return r.ReadMany(ctx, oids, func(o Object) error {
		if o.Type != "tree" {
			return nil
		}
		if entries, err := decodeTree(o.Data, r.Format); err == nil {
			r.remember(o.OID, entries)
		}
		return nil
	})
}
