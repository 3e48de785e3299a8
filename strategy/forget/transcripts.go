package forget

import (
	"fmt"
	"os"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// transcripts returns what becomes of the agents' own transcripts that have
// something of it, those of subagents included. They stay unless the user wants
// them changed, and may be.
func (f *Forgetting) transcripts() []fileChange {
	states, _ := f.rec.Sessions.All()
	var list []fileChange
	for _, s := range states {
		if s.TranscriptPath == "" || f.find == nil && s.ID != f.what.Session {
			continue
		}
		paths := []string{s.TranscriptPath}
		agents, _ := transcript.AgentFiles(s.TranscriptPath) // without a folder there are none
		for _, a := range agents {
			paths = append(paths, a.Path)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil || f.find != nil && !f.find.Has(data) {
				continue
			}
			list = append(list, f.transcript(s, path, data))
		}
	}
	return list
}

// transcript is what becomes of one transcript.
func (f *Forgetting) transcript(s *session.State, path string, data []byte) fileChange {
	stays := func(what string) fileChange {
		return fileChange{path: path, place: Place{Kind: File, Name: path, What: what, Stays: true}}
	}
	if !f.what.AgentTranscript {
		return stays("is the agent's own transcript: --agent-transcript changes it too")
	}
	if err := transcript.CheckPlace(path, f.rec.Env.Getenv, f.rec.Env.Home, f.rec.Repo.Root); err != nil {
		return stays("is the agent's own transcript, and not where the agent keeps them: " + firstLine(err))
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return stays("is the agent's own transcript, and not a regular file")
	}
	if s.Phase == session.Active && !f.what.ActiveToo {
		return stays("is the transcript of a session that is active: end it first, or use --force")
	}
	if f.find == nil {
		return fileChange{path: path, place: Place{Kind: File, Name: path, What: "the agent's own transcript is removed"}}
	}
	return fileChange{
		path: path, data: f.find.MaskInPlace(data), // line by line, so that what has offsets into it goes on
		place: Place{Kind: File, Name: path, What: "the agent's own transcript is masked"},
	}
}

// cleanTranscripts replaces or removes the agents' own transcripts, each at once.
func (f *Forgetting) cleanTranscripts() error {
	for _, c := range f.transcripts() {
		if c.place.Stays {
			continue
		}
		if c.data == nil {
			if err := disk.Remove(c.path); err != nil {
				return fmt.Errorf("remove transcript: %w", err)
			}
			continue
		}
		info, err := os.Lstat(c.path)
		if err == nil {
			err = disk.WriteDurable(c.path, c.data, info.Mode().Perm())
		}
		if err != nil {
			return fmt.Errorf("rewrite transcript: %w", err)
		}
	}
	return nil
}
