package forget

import (
	"os"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
)

// transcriptChanges returns the changes of the agents' own transcripts that match, including those
// of subagents. They remain unless the user wants them changed and they may be.
func (t *target) transcriptChanges() []fileChange {
	states, _ := t.w.Sessions.All()
	var list []fileChange
	for _, s := range states {
		isRecord := agent.Of(s.AgentType).HandsOver() // and not the agent's own
		if s.TranscriptPath == "" || isRecord || t.find == nil && s.ID != t.what.Session {
			continue
		}
		paths := []string{s.TranscriptPath}
		agents, _ := s.Recorder.SubagentFiles(s.TranscriptPath) // without a folder there are none
		for _, a := range agents {
			paths = append(paths, a.Path)
		}
		for _, path := range paths {
			data, err := disk.ReadFile(path)
			if err != nil || t.find != nil && !t.find.Has(data) {
				continue
			}
			list = append(list, t.transcriptChange(s, path, data))
		}
	}
	return list
}

// transcriptChange returns the change of one transcript.
func (t *target) transcriptChange(s *session.State, path string, data []byte) fileChange {
	stays := func(what string) fileChange {
		return fileChange{path: path, place: Place{Kind: File, Name: path, What: what, Stays: true}}
	}
	if !t.what.AgentTranscript {
		return stays("the agent's own transcript; --agent-transcript changes it, too")
	}
	if err := t.w.Transcripts().Check(agent.Of(s.AgentType), path); err != nil {
		return stays("a transcript outside the agent's folders: " + plain.FirstLine(err.Error()))
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return stays("a transcript, but not a regular file")
	}
	if s.Phase == session.Active && !t.what.ActiveToo {
		return stays("the transcript of an active session; end it first, or use --force")
	}
	if t.find == nil {
		return fileChange{path: path, place: Place{Kind: File, Name: path, What: "the agent's own transcript is removed"}}
	}
	return fileChange{
		path: path, data: t.find.MaskInPlace(data), // line by line, so that offsets into it remain valid
		place: Place{Kind: File, Name: path, What: "the agent's own transcript is masked"},
	}
}
