package digest

import (
	"iter"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// decisions returns the sentences of a text in which the agent reports a decision.
func decisions(said string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fenced := false
		for text := range strings.SplitSeq(plain.Head(said, plain.MaxScanned), "\n") {
			text = strings.TrimSpace(text)
			if strings.HasPrefix(text, "```") {
				fenced = !fenced
			}
			if fenced || text == "" || strings.HasPrefix(text, "|") || strings.HasPrefix(text, ">") {
				continue
			}
			for sentence := range sentences(text) {
				if decides(sentence) && !yield(sentence) {
					return
				}
			}
		}
	}
}

// sentences returns the sentences of a line, without its bullet.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if item, ok := listItem(text); ok && item != "" {
			text = item
		}
		for text != "" {
			end := strings.IndexAny(text, ".!?")
			for end >= 0 && end+1 < len(text) && text[end+1] != ' ' {
				next := strings.IndexAny(text[end+1:], ".!?")
				if next < 0 {
					end = -1
					break
				}
				end += 1 + next
			}
			if end < 0 {
				end = len(text) - 1
			}
			if !yield(strings.TrimSpace(text[:end+1])) {
				return
			}
			text = strings.TrimSpace(text[end+1:])
		}
	}
}

// decides reports whether a sentence is about a decision that the agent made.
func decides(sentence string) bool {
	const shortest, longest = 20, 400
	if len(sentence) < shortest || len(sentence) > longest || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, ":") {
		return false
	}
	low := " " + strings.ToLower(strings.ReplaceAll(sentence, "\u2019", "'"))
	if containsAny(low, " if we ", " if i ", " if you ", " should we", " should i", " could ", " would ", " might ", " whether ", " can ",
		" i need to ", " we need to ", " i have to ", " haven't ", " not decided", " not yet", " you chose", " user chose", "let me ") {
		return false
	}
	if containsAny(low, " decided to ", " we decided", " i decided", " i chose", " we chose", " chose to ", " i'll go with", " we'll go with",
		" i'm going with", " we're going with", " we'll use ", " opted for", " opted to ") {
		return true
	}
	return containsAny(low, " rather than ", " instead of ") && !strings.Contains(low, " should ") && acts(low)
}

// acts reports whether a lower-case sentence describes an action of the agent: "I put",
// "we've kept", at its beginning or after a comma or a conjunction. A relative clause, as
// in "the tests I wrote are", does not count.
func acts(low string) bool {
	verbs := strings.Fields(`added adding built building changed changing created creating did doing dropped dropping extracted extracting implemented
	implementing kept keep keeping left leaving made making merged merging moved moving picked picking put putting read reading renamed renaming
	replaced replacing returned returning reused reusing set setting split splitting stored storing switched switching took taking use used using
	went wrote writing`)
	words := strings.Fields(low)
	for i, word := range words {
		if !slices.Contains([]string{"i", "we", "i've", "we've", "i'm", "we're"}, word) || i+1 == len(words) {
			continue
		}
		begins := i == 0 || strings.ContainsAny(words[i-1][len(words[i-1])-1:], ",;:-\u2014") ||
			slices.Contains([]string{"so", "and", "but", "then", "here", "now", "therefore", "instead"}, words[i-1])
		if begins && slices.Contains(verbs, words[i+1]) {
			return true
		}
	}
	return false
}
