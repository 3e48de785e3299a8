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

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// hookInput is what Claude Code's hooks hand to a tool: placeholders, which
// stay as they are where the client doesn't support them.
type hookInput struct {
	SessionID  string `json:"session_id"`
	PromptID   string `json:"prompt_id"`
	Transcript string `json:"transcript_path"`
	Dir        string `json:"cwd"`
}

// addHook adds a tool that a hook calls. What goes wrong is logged; the result
// doesn't have it, as the client would show it to the person as a failure of
// the clear, which goes on in any case.
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
		for _, v := range []*string{&in.SessionID, &in.PromptID, &in.Transcript, &in.Dir} {
			if strings.HasPrefix(*v, "${") { // the client has left it as it was
				*v = ""
			}
		}
		res, err := run(ctx, call{tool: t.Name, request: req}, in)
		if err != nil {
			return said(""), nil // it is in the log
		}
		return res, nil
	})
}

// hooked runs do in the repository that a hook's input is about.
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
		of := savedcontext.Clearing{SessionID: in.SessionID, PromptID: in.PromptID, Transcript: in.Transcript, Above: s.Above()}
		if err := c.project.CheckTranscript(in.SessionID, in.Transcript); err != nil {
			c.project.Log.WarnContext(ctx, "transcript not read", "component", "mcp", "error", err.Error())
			of.Transcript = ""
		}
		return do(c.project, of)
	})
}

// beforeClear is checkpoint_before_clear: called when the context is about to
// be cleared, and again with the person's answer.
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

// asking has when the questions before a clear were asked, by session. It distinguishes Esc,
// which means no, from a question that the client cancels as nobody answers it in time.
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

// cancelled reports whether the person cancelled the question: the answer is a cancellation
// from before the time that the client gives for it.
func (a *asking) cancelled(req *mcp.CallToolRequest, session string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, asked := a.since[session]
	delete(a.since, session)
	given, ok := req.Params.InputResponses[questionID].(*mcp.ElicitResult)
	return ok && given != nil && given.Action == "cancel" && asked && now.Sub(at) < answerTime
}

// answerTime is somewhat less than the time that the installed hook gives for an answer.
const answerTime = 40 * time.Second

// question is the text of the dialog before a clear. It has no number of files if none
// changed.
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

// afterClear is checkpoint_after_clear: called when a session begins after a
// clear, and again with the person's answer. It returns what the hook adds to
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
			// What a SessionStart hook prints to add a brief.
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

// questionID names the question in a tool's answer.
const questionID = "answer"

// ask lets the client put a question that is answered with a key: the form has
// no fields. The tool is called again with the answer.
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

// answerOf returns the person's answer, if this call has it.
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
