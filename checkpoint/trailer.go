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
	startedKey  = "Entire-Started"
)

// noLink is the value of the trailer in a message whose author declines a link.
const noLink = "none"

// scissors is the end of the line below which git shows the diff in a message file.
const scissors = " ------------------------ >8 ------------------------"

// IDs returns the checkpoint ids in the trailers of a commit message in order, without duplicates
// (docs/formats/checkpoint.md). An id that the text quotes is not one of them.
func IDs(message string) []ID {
	var ids []ID
	lines := slices.Collect(strings.Lines(message))
	for _, i := range keyTrailers(lines) {
		if id, ok := lineID(strings.TrimLeft(lines[i], " \t")); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// NoteIDs returns the checkpoint ids in a git note in order, without duplicates.
func NoteIDs(note string) []ID {
	var ids []ID
	for line := range strings.Lines(note) {
		if id, ok := lineID(line); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// IDsOf returns the checkpoint ids of a commit: those in its message, and those in the note that is
// kept beside it if no hook could edit the message.
func IDsOf(c git.Commit) []ID {
	ids := IDs(c.Message)
	for _, id := range NoteIDs(c.Note) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// LinkedIDs returns the checkpoint ids of a commit that a commit which replaces it names in its message: all
// except those in an imported note. These are never written to the history; the note follows the commit.
func LinkedIDs(c git.Commit) []ID {
	if IsImported(c) {
		return IDs(c.Message)
	}
	return IDsOf(c)
}

// Declines reports whether the author of a commit message declines a link: the message has the
// trailer with the value none.
func Declines(message string) bool {
	lines := slices.Collect(strings.Lines(message))
	return slices.ContainsFunc(keyTrailers(lines), func(i int) bool { return declines(lines[i]) })
}

// IsDeclined reports whether a link of a commit is declined, by its message or by its note.
func IsDeclined(c git.Commit) bool {
	return Declines(c.Message) || slices.ContainsFunc(slices.Collect(strings.Lines(c.Note)), declines)
}

// DeclinedNote is the line of a note that declines a link.
const DeclinedNote = TrailerKey + ": " + noLink + "\n"

// DerivedNote is the line of a note whose checkpoints were derived: the commit has lines of them, and
// nothing else is known of it.
const DerivedNote = "Entire-Derived: true\n"

// ImportedNote is the line of a note whose checkpoints were imported: they were made from transcripts after
// the commit.
const ImportedNote = "Entire-Imported: true\n"

// ImportedText returns the text of a note with imported checkpoints, which are also derived, "" for none.
func ImportedText(ids []ID) string {
	if len(ids) == 0 {
		return ""
	}
	return DerivedText(ids) + ImportedNote
}

// IsImported reports whether the checkpoints in a commit's note were imported.
func IsImported(c git.Commit) bool {
	return slices.Contains(slices.Collect(strings.Lines(c.Note)), ImportedNote)
}

// DerivedText returns the text of a note with derived checkpoints, "" for none.
func DerivedText(ids []ID) string {
	if len(ids) == 0 {
		return ""
	}
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(TrailerKey + ": " + string(id) + "\n")
	}
	return b.String() + DerivedNote
}

// IsDerived reports whether the checkpoints in a commit's note were derived.
func IsDerived(c git.Commit) bool {
	return slices.Contains(slices.Collect(strings.Lines(c.Note)), DerivedNote)
}

func declines(line string) bool {
	value, found := strings.CutPrefix(strings.TrimLeft(line, " \t"), TrailerKey+":")
	return found && strings.EqualFold(strings.TrimSpace(value), noLink)
}

// StripDeclined returns the message without the lines for which [Declines] is true, like
// [StripIDs].
func StripDeclined(message string) string {
	return stripLines(message, func(line string, isTrailer bool) bool { return isTrailer && declines(line) })
}

// StripIDs returns the message without the lines from which [IDs] reads ids, and without other
// lines that begin with the trailer and have one of the given ids: git joins messages without
// regard to their trailers. A blank line is dropped if a removal leaves two together or one at the
// end of the message. All other lines stay, and a message without ids is returned unchanged.
func StripIDs(message string, ids ...ID) string {
	return stripLines(message, func(line string, isTrailer bool) bool {
		id, ok := lineID(strings.TrimLeft(line, " \t"))
		return ok && (isTrailer || slices.Contains(ids, id) && line[0] == TrailerKey[0])
	})
}

// QuoteIDs returns the message with a mark of quotation before each line from which [IDs] reads
// another id than those to keep, so that the line remains in the text and is no trailer.
func QuoteIDs(message string, keep ...ID) string {
	lines := slices.Collect(strings.Lines(message))
	for _, i := range keyTrailers(lines) {
		if id, ok := lineID(strings.TrimLeft(lines[i], " \t")); ok && !slices.Contains(keep, id) {
			lines[i] = "> " + lines[i]
		}
	}
	return strings.Join(lines, "")
}

func stripLines(message string, strip func(line string, isTrailer bool) bool) string {
	lines := slices.Collect(strings.Lines(message))
	trailers := keyTrailers(lines)
	var kept []string
	rest, stripped, gap := message, false, false
	for i, line := range lines {
		if isScissors(line) {
			break
		}
		rest = rest[len(line):]
		if _, isTrailer := slices.BinarySearch(trailers, i); strip(line, isTrailer) {
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
	if end := strings.IndexAny(value, " \t\r\n\v\f"); end >= 0 {
		value = value[:end]
	}
	id, err := ParseID(value)
	return id, err == nil
}

// isScissors reports whether a line is git's scissors line, with any core.commentChar.
func isScissors(line string) bool {
	comment, found := strings.CutSuffix(strings.TrimRight(line, "\r\n"), scissors)
	return found && comment != "" && !strings.ContainsAny(comment, " \t")
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }
