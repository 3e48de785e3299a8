package app

import (
	"os"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
)

// AgentLabel returns the label of the agent with the name text. Other texts, such as a part of a
// label, are returned unchanged.
func AgentLabel(text string) string {
	if a, known := agent.ByName(strings.ToLower(text)); known {
		return a.Label
	}
	return text
}

// MatchesAgent reports whether a flag's value selects an agent with a label.
func MatchesAgent(flag, label string) bool {
	return strings.Contains(strings.ToLower(label), strings.ToLower(AgentLabel(flag)))
}

// ResumeCommand returns the agent's command that continues a session of the repository. For an
// unknown session it is the command of Claude Code.
func ResumeCommand(repo *git.Repo, id string) string {
	s, err := session.Open(repo.CommonDir).Load(id)
	if err != nil {
		return agent.Default().Resume(id)
	}
	return agent.Of(s.AgentType).Resume(id)
}

// ResumeRecorded returns the command that continues a recorded session: the agent's own if the
// session's transcript is on this machine, else the one that restores the transcript first.
func ResumeRecorded(repo *git.Repo, id string) string {
	s, err := session.Open(repo.CommonDir).Load(id)
	if err == nil {
		if _, err := os.Stat(s.TranscriptPath); err == nil {
			return agent.Of(s.AgentType).Resume(id)
		}
	}
	return "entire resume " + id
}
