package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/redact"
)

// call is one call of a tool.
type call struct {
	tool    string
	request *mcp.CallToolRequest
	project *Project
}

// result is the result of a tool call.
type result = *mcp.CallToolResult

// add adds a tool with input In. An error or a panic in run becomes an error of the tool
// and does not affect the server.
func add[In any](to *mcp.Server, t *mcp.Tool, run func(context.Context, call, In) (result, error)) {
	to.AddTool(t, func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, _ error) {
		defer func() {
			if p := recover(); p != nil {
				res = failed(fmt.Errorf("internal error: %v", p))
			}
		}()
		var in In
		if err := decode(req.Params.Arguments, &in); err != nil {
			return failed(err), nil
		}
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		res, err := run(ctx, call{tool: t.Name, request: req}, in)
		if err != nil {
			return failed(err), nil
		}
		return res, nil
	})
}

// decode parses a tool's input, which may be absent.
func decode(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	wrong, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil && d.Decode(new(any)) != io.EOF:
		return errors.New("invalid input: more than one value")
	case err == nil:
		return nil
	case isType && wrong.Field != "":
		return fmt.Errorf("invalid input: %s can't be a %s", wrong.Field, wrong.Value)
	default:
		return fmt.Errorf("invalid input: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
}

// failed returns an error, redacted and escaped, as a tool's result.
func failed(err error) result {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: plain.Visible(redact.New().Text(err.Error()))}}}
}

// said returns lines of text, escaped, as a tool's result.
func said(lines ...string) result {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: plain.Visible(strings.Join(lines, "\n"))}}}
}

// data returns v as a tool's result: as JSON for programs and as text for models.
func data(v any) (result, error) {
	text, err := encode(v)
	if err != nil {
		return nil, err
	}
	res := said(string(text))
	res.StructuredContent = json.RawMessage(text)
	return res, nil
}

// encode encodes v as JSON without HTML escapes and hidden characters.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return plain.JSON(bytes.TrimRight(b.Bytes(), "\n")), nil
}

// in runs do in the repository of a place, and logs the call there.
func (s *Server) in(ctx context.Context, c call, at Place, do func(call) (result, error)) (res result, err error) {
	began := s.Now()
	if c.project, err = s.Open(ctx, at); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
		level, attrs := slog.LevelInfo, []slog.Attr{
			slog.String("component", "mcp"), slog.String("tool", c.tool),
			slog.Float64("duration_ms", float64(s.Now().Sub(began).Microseconds())/1000), //nolint:mnd // microseconds in a millisecond
		}
		if at.SessionID != "" {
			attrs = append(attrs, slog.String("session_id", at.SessionID))
		}
		if err != nil {
			level = slog.LevelWarn
			attrs = append(attrs, slog.String("error", redact.New().Text(err.Error())))
		}
		c.project.Log.LogAttrs(ctx, level, "mcp", attrs...)
		err = errors.Join(err, c.project.Close())
	}()
	return do(c)
}
