package checkpoint

import (
	"strings"
	"time"
)

// initMessage is the message of the first commit of the metadata branch.
const initMessage = "Initialize metadata branch\n\nThis branch stores session metadata for the auto-commit strategy.\n"

// CommitMessage returns the message of the commit on the metadata branch that stores the session of
// m in the checkpoint id. shadowBranch is the branch from which it was condensed, empty if none.
func CommitMessage(id ID, m SessionMeta, shadowBranch string) string {
	var b strings.Builder
	b.WriteString(RecordSubject + string(id) + "\n\n")
	trailer := func(key, value string) {
		if value = OneLine(value); value != "" {
			b.WriteString(key + ": " + value + "\n")
		}
	}
	trailer(SessionKey, m.SessionID)
	trailer(StrategyKey, m.Strategy)
	trailer(agentKey, m.Agent)
	trailer(branchKey, strings.TrimPrefix(shadowBranch, branchPrefix))
	return b.String()
}

// ImportedMessage is CommitMessage for a session that is imported. started is when the session began: the
// commit keeps it if the session is forgotten. It may be zero.
func ImportedMessage(id ID, m SessionMeta, started time.Time) string {
	message := CommitMessage(id, m, "")
	if !started.IsZero() {
		message += startedKey + ": " + started.UTC().Format(time.RFC3339) + "\n"
	}
	return message
}

// startedIn returns when the session began that a commit stores, false if the message doesn't have it.
func startedIn(message string) (time.Time, bool) {
	for line := range strings.Lines(message) {
		if value, found := strings.CutPrefix(line, startedKey+": "); found {
			at, err := time.Parse(time.RFC3339, strings.TrimSpace(value))
			return at, err == nil
		}
	}
	return time.Time{}, false
}

// mergeMessage is the message of a commit that merges two copies of the metadata branch.
const mergeMessage = "Merge remote session logs\n"

// FinalizeMessage returns the message of the commit on the metadata branch that completes a
// checkpoint at the end of its turn.
func FinalizeMessage(id ID) string {
	return "Finalize transcript for Checkpoint: " + string(id) + "\n"
}

// SummaryMessage returns the message of the commit on the metadata branch that adds a summary to a
// session's metadata.
func SummaryMessage(at SessionIn) string {
	return "Update summary for checkpoint " + string(at.ID) + " (session: " + OneLine(at.Session) + ")\n"
}

// SubjectID returns the checkpoint to which a commit on the metadata branch belongs, from the first
// line of its message, false if it names none.
func SubjectID(subject string) (ID, bool) {
	for _, prefix := range []string{RecordSubject, "Finalize transcript for Checkpoint: ", "Update summary for checkpoint "} {
		if rest, found := strings.CutPrefix(subject, prefix); found {
			rest, _, _ = strings.Cut(rest, " ")
			id, err := ParseID(rest)
			return id, err == nil
		}
	}
	return "", false
}
