package checkpoint

import "strings"

// initMessage is that of the first commit of the metadata branch.
const initMessage = "Initialize metadata branch\n\nThis branch stores session metadata for the auto-commit strategy.\n"

// CommitMessage is the message of the commit on the metadata branch that
// stores the session of m in the checkpoint id. shadowBranch is the branch that
// it came from, empty if none.
func CommitMessage(id ID, m SessionMeta, shadowBranch string) string {
	var b strings.Builder
	b.WriteString("Checkpoint: " + string(id) + "\n\n")
	trailer := func(key, value string) {
		if value = oneLine(value); value != "" {
			b.WriteString(key + ": " + value + "\n")
		}
	}
	trailer(SessionKey, m.SessionID)
	trailer(StrategyKey, m.Strategy)
	trailer(AgentKey, m.Agent)
	trailer(BranchKey, strings.TrimPrefix(shadowBranch, branchPrefix))
	return b.String()
}

// FinalizeMessage is the message of the commit on the metadata branch that
// completes a checkpoint when its turn has ended.
func FinalizeMessage(id ID) string {
	return "Finalize transcript for Checkpoint: " + string(id) + "\n"
}

// IsOwn says whether a message is that of a commit which stores or completes a
// checkpoint on the metadata branch.
func IsOwn(message string) bool {
	subject, _, _ := strings.Cut(message, "\n")
	for _, prefix := range []string{"Checkpoint: ", "Finalize transcript for Checkpoint: "} {
		if rest, ok := strings.CutPrefix(subject, prefix); ok {
			_, err := ParseID(rest)
			return err == nil
		}
	}
	return false
}
