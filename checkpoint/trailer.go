package checkpoint

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Keys of the trailers in commit messages.
const (
	// TrailerKey is used in the user's commits, the other keys only in the program's.
	TrailerKey  = "Entire-Checkpoint"
	SessionKey  = "Entire-Session"
	StrategyKey = "Entire-Strategy"
	agentKey    = "Entire-Agent"
	MetadataKey = "Entire-Metadata"
	TaskKey     = "Entire-Metadata-Task"
	branchKey   = "Ephemeral-branch"
)

// noLink is the value of the trailer in a message whose author declines a link.
const noLink = "none"

// scissors is the end of the line below which git shows the diff in a message file.
const scissors = " ------------------------ >8 ------------------------"

// IDs returns the checkpoint ids in a commit message in order, without duplicates. A line counts
// anywhere, indented or not, if it consists of the key and 12 hex digits, optionally followed by
// white space and more text. Commented lines and the text after git's scissors line don't count.
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

// IDsOf returns the checkpoint ids of a commit: those in its message, and those in the note that is
// kept beside it if no hook could edit the message.
func IDsOf(c git.Commit) []ID { return IDs(c.Message + "\n" + c.Note) }

// Declines reports whether the author of a commit message declines a link: the message has the
// trailer with the value none.
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

// StripDeclined returns the message without the lines for which [Declines] is true, like
// [StripIDs].
func StripDeclined(message string) string { return stripLines(message, declines) }

// StripIDs returns the message without the lines that begin with the trailer. A blank line is
// dropped if a removal leaves two together or one at the end of the message. Indented lines,
// comments and the text after the scissors line stay, and a message without the trailer is returned
// unchanged.
func StripIDs(message string) string {
	return stripLines(message, func(line string) bool {
		_, ok := lineID(line)
		return ok
	})
}

func stripLines(message string, strip func(line string) bool) string {
	var kept []string
	rest, stripped, gap := message, false, false
	for line := range strings.Lines(message) {
		if isScissors(line) {
			break
		}
		rest = rest[len(line):]
		if strip(line) {
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

// lineID parses a line that begins with the trailer.
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

// isScissors reports whether a line is git's scissors line, with any core.commentChar.
func isScissors(line string) bool {
	comment, found := strings.CutSuffix(strings.TrimRight(line, "\r\n"), scissors)
	return found && comment != "" && !strings.ContainsAny(comment, " \t")
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }
