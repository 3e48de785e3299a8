package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// maxLine is the maximum size of a message in bytes.
const maxLine = 16 << 20

// stdio is the transport: a JSON-RPC message on each line. Unlike the library's own, it
// responds to an invalid line with an error and continues with the next line.
type stdio struct {
	in  io.Reader
	out io.Writer
}

// Connect starts reading.
func (t *stdio) Connect(context.Context) (mcp.Connection, error) { //nolint:ireturn // as the library calls it
	c := &connection{
		out: t.out, messages: make(chan jsonrpc.Message), closed: make(chan struct{}), answered: make(chan struct{}, 1),
		open: map[jsonrpc.ID]struct{}{},
	}
	go c.read(bufio.NewReader(t.in)) // outlives a closed connection: a blocked read can't be interrupted
	return c, nil
}

// connection is one client.
type connection struct {
	messages chan jsonrpc.Message // closed when the stream ends
	closed   chan struct{}
	once     sync.Once
	answered chan struct{} // signals Read after a response was written

	mu   sync.Mutex // guards out and open
	out  io.Writer
	open map[jsonrpc.ID]struct{} // calls without a response; two with the same id count once
}

// read passes on messages until the stream ends.
func (c *connection) read(in *bufio.Reader) {
	defer close(c.messages)
	for {
		line, err := readLine(in)
		if line = bytes.TrimSpace(line); len(line) > 0 || errors.Is(err, errLong) {
			if !c.take(line, err) {
				return
			}
		}
		if err != nil && !errors.Is(err, errLong) {
			return
		}
	}
}

// take passes on the messages of a line, or responds to an invalid one. It returns false if
// the connection is closed or can't be written.
func (c *connection) take(line []byte, problem error) bool {
	messages, err := decodeLine(line)
	if errors.Is(problem, errLong) {
		err = errLong
	}
	if err != nil {
		answer, isError := errors.AsType[*jsonrpc.Error](err)
		if !isError {
			answer = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: err.Error()}
		}
		data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": answer})
		if err != nil {
			return false
		}
		return c.put(data) == nil
	}
	for _, m := range messages {
		if call, ok := m.(*jsonrpc.Request); ok && call.IsCall() {
			c.mu.Lock()
			c.open[call.ID] = struct{}{}
			c.mu.Unlock()
		}
		select {
		case c.messages <- m:
		case <-c.closed:
			return false
		}
	}
	return true
}

var errLong = fmt.Errorf("a message has more than %d bytes", maxLine)

// readLine returns the next line with the error that ended it. It skips a line that is too
// long and returns errLong.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	var long error
	for {
		piece, err := in.ReadSlice('\n')
		if len(line)+len(piece) > maxLine {
			line, long = nil, errLong
		}
		if long == nil {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return line, err
		default:
			return line, long
		}
	}
}

// decodeLine decodes a message or a batch of messages.
func decodeLine(line []byte) ([]jsonrpc.Message, error) {
	if !json.Valid(line) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "not JSON"}
	}
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		if err := json.Unmarshal(line, &parts); err != nil || len(parts) == 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "an empty batch"}
		}
	}
	messages := make([]jsonrpc.Message, 0, len(parts))
	for _, part := range parts {
		m, err := jsonrpc.DecodeMessage(part)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "not a JSON-RPC message"}
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// put writes a message on a line, without hidden characters: a client may show it as it is.
func (c *connection) put(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(plain.JSON(data), '\n'))
	return err
}

// Read returns the next message, or io.EOF when the client has closed its end and all its
// calls have responses.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) { //nolint:ireturn // as the library calls it
	select {
	case m, ok := <-c.messages:
		if ok {
			return m, nil
		}
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	// A client that has closed its end may still read responses, so wait for all calls. If
	// the client has exited, ctx ends.
	wait, cancel := context.WithTimeout(ctx, callTime) // no call runs longer
	defer cancel()
	for {
		c.mu.Lock()
		left := len(c.open)
		c.mu.Unlock()
		if left == 0 {
			return nil, io.EOF
		}
		select {
		case <-c.answered:
		case <-c.closed:
			return nil, io.EOF
		case <-wait.Done():
			return nil, io.EOF
		}
	}
}

// Write writes a message.
func (c *connection) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if err := c.put(data); err != nil {
		return err
	}
	if answer, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, answer.ID)
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return nil
}

// Close ends the connection and unblocks Read.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID returns "": a process serves one client.
func (c *connection) SessionID() string { return "" }
