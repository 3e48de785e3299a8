package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// hookInput is the input that Claude Code's hooks pass to a tool. Its values are configured
// as placeholders, which a client without support for them passes unchanged.
type hookInput struct {
	SessionID string `json:"session_id"`
	PromptID  string `json:"prompt_id"`
	Dir       string `json:"cwd"`
}

// addHook adds a tool that a hook calls. Errors are logged and not returned: the client
// would show them as a failure of the clear, which continues in any case.
func addHook(to *mcp.Server, t *mcp.Tool, run func(context.Context, call, hookInput) (result, error)) {
	to.AddTool(t, func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, _ error) {
		defer func() {
			if recover() != nil {
				res = said("")
			}
		}()
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		var in hookInput
		if json.NewDecoder(bytes.NewReader(req.Params.Arguments)).Decode(&in) != nil {
			return said(""), nil
		}
		for _, v := range []*string{&in.SessionID, &in.PromptID, &in.Dir} {
			if strings.HasPrefix(*v, "${") { // the client has not replaced it
				*v = ""
			}
		}
		res, err := run(ctx, call{tool: t.Name, request: req}, in)
		if err != nil {
			return said(""), nil // it was logged
		}
		return res, nil
	})
}

// hooked runs do in the repository of a hook's input.
func (s *Server) hooked(ctx context.Context, c call, in hookInput, do func(*Project, savedcontext.Clearing) (result, error)) (result, error) {
	at := Place{Dir: in.Dir, SessionID: in.SessionID}
	if at.Dir == "" {
		at.Dir = s.Dir
	}
	bad := session.CheckID(in.SessionID)
	if bad != nil {
		at.SessionID = ""
	}
	return s.in(ctx, c, at, func(c call) (result, error) {
		if bad != nil {
			return nil, fmt.Errorf("session_id: %w", bad)
		}
		return do(c.project, savedcontext.Clearing{SessionID: in.SessionID, PromptID: in.PromptID, Above: s.Above()})
	})
}

// beforeClear implements checkpoint_before_clear. It is called before the context is
// cleared, and again with the person's answer.
func (s *Server) beforeClear(ctx context.Context, c call, in hookInput) (result, error) {
	return s.hooked(ctx, c, in, func(p *Project, of savedcontext.Clearing) (result, error) {
		if answer, ok := answerOf(c.request); ok {
			if answer == savedcontext.NoAnswer && s.asking.cancelled(c.request, in.SessionID, s.Now()) {
				answer = savedcontext.DiscardIt
			}
			return said(""), p.Work.AnswerClear(ctx, of, answer)
		}
		began := s.Now()
		unsaved, err := p.Work.BeforeClear(ctx, of)
		if err != nil || !unsaved.Ask || !canAsk(c.request) {
			return said(""), err
		}
		s.asking.begin(in.SessionID, began)
		return ask(question(unsaved, s.Now())), nil
	})
}

// asking records the times of the questions before a clear, by session. They distinguish
// Esc, which means no, from a question that the client cancels after a timeout.
type asking struct {
	mu    sync.Mutex
	since map[string]time.Time
}

func (a *asking) begin(session string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since == nil {
		a.since = map[string]time.Time{}
	}
	a.since[session] = at
}

// cancelled reports whether the person cancelled the question, that is, whether the answer
// is a cancellation before the client's timeout.
func (a *asking) cancelled(req *mcp.CallToolRequest, session string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, asked := a.since[session]
	delete(a.since, session)
	given, ok := req.Params.InputResponses[questionID].(*mcp.ElicitResult)
	return ok && given != nil && given.Action == "cancel" && asked && now.Sub(at) < answerTime
}

// answerTime is a little less than the timeout of the installed hook for an answer.
const answerTime = 40 * time.Second

// question returns the text of the dialog before a clear. It omits the number of files if
// none changed.
func question(u savedcontext.Unsaved, now time.Time) string {
	changed := ""
	switch u.Files {
	case 0:
	case 1:
		changed = fmt.Sprintf("1 file changed, +%d lines. ", u.Added)
	default:
		changed = fmt.Sprintf("%d files changed, +%d lines. ", u.Files, u.Added)
	}
	last := "Not saved before."
	if !u.Last.IsZero() {
		last = "Last saved: " + brief.Ago(now, u.Last)
	}
	return "Save this session's context before clearing?\n" + changed + last
}

// afterClear implements checkpoint_after_clear. It is called when a session begins after a
// clear, and again with the person's answer. Its result is the text that the hook adds to
// the context.
func (s *Server) afterClear(ctx context.Context, c call, in hookInput) (result, error) {
	return s.hooked(ctx, c, in, func(p *Project, of savedcontext.Clearing) (result, error) {
		answer, answered := answerOf(c.request)
		if answered && answer != savedcontext.KeepIt {
			return said(""), nil
		}
		r, wanted, err := p.Work.AfterClear(ctx, of)
		switch {
		case errors.Is(err, recall.ErrNotFound):
			return said(""), nil
		case err != nil:
			return nil, err
		case answered:
			if len(r.Brief.Parts) == 0 {
				return said(""), nil
			}
			// The output of a SessionStart hook that adds a brief.
			text, err := encode(map[string]any{
				"systemMessage":      r.Brief.Message,
				"hookSpecificOutput": map[string]string{"hookEventName": "SessionStart", "additionalContext": r.Brief.Parts[0]},
			})
			if err != nil {
				return nil, err
			}
			return said(string(text)), nil
		case !wanted || !canAsk(c.request):
			return said(""), nil
		}
		age := brief.Ago(s.Now(), r.Checkpoint.CreatedAt)
		return ask(fmt.Sprintf("Resume from checkpoint: %s (saved %s)?", r.Checkpoint.Summary, age)), nil
	})
}

// questionID identifies the question in a tool's result.
const questionID = "answer"

// ask returns a result that lets the client ask a question answered by a single key: the
// form has no fields. The client calls the tool again with the answer.
func ask(text string) result {
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{questionID: &mcp.ElicitParams{
		Message: text, RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}}}
}

// canAsk reports whether the client shows forms.
func canAsk(req *mcp.CallToolRequest) bool {
	able := req.ClientCapabilities()
	return able != nil && able.Elicitation != nil && (able.Elicitation.Form != nil || able.Elicitation.URL == nil)
}

// answerOf returns the person's answer; the result is false if the call has none.
func answerOf(req *mcp.CallToolRequest) (savedcontext.ClearAnswer, bool) {
	given, ok := req.Params.InputResponses[questionID].(*mcp.ElicitResult)
	switch {
	case !ok || given == nil:
		return savedcontext.NoAnswer, len(req.Params.InputResponses) > 0
	case given.Action == "accept":
		return savedcontext.KeepIt, true
	case given.Action == "decline":
		return savedcontext.DiscardIt, true
	default:
		return savedcontext.NoAnswer, true
	}
}
