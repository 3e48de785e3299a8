package checkpoint

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Keys of the trailers in commit messages.
const (
	// TrailerKey is in the user's commits, the others only in ours.
	TrailerKey  = "Entire-Checkpoint"
	SessionKey  = "Entire-Session"
	StrategyKey = "Entire-Strategy"
	agentKey    = "Entire-Agent"
	MetadataKey = "Entire-Metadata"
	TaskKey     = "Entire-Metadata-Task"
	branchKey   = "Ephemeral-branch"
)

// noLink is the value of the trailer in a message whose author wants no link.
const noLink = "none"

// scissors ends the line below which git shows the diff in a message file.
const scissors = " ------------------------ >8 ------------------------"

// IDs returns the checkpoint ids of a commit message in order, each once. A
// line counts wherever it is, indented or not, if it has the key, 12 hex
// digits, and then nothing or a space. Commented lines don't count, nor what
// follows git's scissors line.
func IDs(message string) []ID {
	var ids []ID
	for line := range strings.Lines(message) {
		if isScissors(line) {
			break
		}
		if id, ok := lineID(strings.TrimLeft(line, " \t")); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// IDsOf returns the checkpoint ids of a commit: those of its message, and those that are kept
// beside it where no hook could write into the message.
func IDsOf(c git.Commit) []ID { return IDs(c.Message + "\n" + c.Note) }

// Declines reports whether a commit message has the trailer with the value none: its
// author wants no link.
func Declines(message string) bool {
	for line := range strings.Lines(message) {
		if isScissors(line) {
			break
		}
		if declines(line) {
			return true
		}
	}
	return false
}

func declines(line string) bool {
	value, found := strings.CutPrefix(strings.TrimLeft(line, " \t"), TrailerKey+":")
	return found && strings.EqualFold(strings.TrimSpace(value), noLink)
}

// StripDeclined returns the message without the lines for which [Declines] is true, as
// [StripIDs] does.
func StripDeclined(message string) string { return stripLines(message, declines) }

// StripIDs returns the message without the lines that begin with the trailer.
// A blank line is dropped where two would meet, or where one would end the
// message. Indented lines, comments and what follows the scissors stay, and a
// message without the trailer stays as it is.
func StripIDs(message string) string {
	return stripLines(message, func(line string) bool {
		_, ok := lineID(line)
		return ok
	})
}

func stripLines(message string, goes func(line string) bool) string {
	var kept []string
	rest, stripped, gap := message, false, false
	for line := range strings.Lines(message) {
		if isScissors(line) {
			break
		}
		rest = rest[len(line):]
		if goes(line) {
			stripped, gap = true, true
			continue
		}
		blank := isBlank(line)
		if gap && blank && (len(kept) == 0 || isBlank(kept[len(kept)-1])) {
			continue
		}
		gap = false
		kept = append(kept, line)
	}
	if !stripped {
		return message
	}
	for gap && len(kept) > 0 && isBlank(kept[len(kept)-1]) && rest == "" {
		kept = kept[:len(kept)-1]
	}
	return strings.Join(kept, "") + rest
}

// lineID reads a line that begins with the trailer.
func lineID(line string) (ID, bool) {
	value, found := strings.CutPrefix(line, TrailerKey+":")
	if !found {
		return "", false
	}
	value = strings.TrimLeft(value, " \t")
	if len(value) > 2*idBytes && !strings.ContainsRune(" \t\r\n\v\f", rune(value[2*idBytes])) {
		return "", false
	}
	id, err := ParseID(value[:min(len(value), 2*idBytes)])
	return id, err == nil
}

// isScissors allows for any core.commentChar.
func isScissors(line string) bool {
	comment, found := strings.CutSuffix(strings.TrimRight(line, "\r\n"), scissors)
	return found && comment != "" && !strings.ContainsAny(comment, " \t")
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }
