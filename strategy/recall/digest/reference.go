package digest

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

//nolint:gochecknoglobals // read-only
var referenceIn = lazyRegexp(`https?://[^\s"'<>()]+/(?:pull|issues|issue|merge_requests)/(?:[A-Z]+-)?[0-9]+|` +
	`\b(?:[Pp][Rr]|[Pp]ull [Rr]equest|[Ii]ssue|[Ff]ix(?:es)?|[Cc]loses|[Rr]esolves) ?#?([0-9]+)\b|\(#([0-9]+)\)|\b[A-Z]{2,6}-[0-9]{1,5}\b`)

// refersIn adds the pull requests and issues that a text names, each with its sentence.
func (r *reader) refersIn(text string, by recall.Speaker) {
	text = plain.Head(text, maxAsked)
	if !strings.Contains(text, "://") && !strings.ContainsAny(text, "0123456789") {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		for sentence := range sentences(strings.TrimSpace(line)) {
			for _, found := range referenceIn().FindAllStringSubmatch(sentence, -1) {
				name := found[0]
				switch number := found[1] + found[2]; {
				case len(number) == 1 && !strings.Contains(name, "#"): // rather a step of a plan
					continue
				case number != "":
					name = "#" + number
				case strings.Contains(name, "://"):
				case !isTracked(sentence, name, by):
					continue
				}
				r.refer(recall.Fact{By: by, Text: item(name, r.redact), Why: item(sentence, r.redact)})
			}
		}
	}
}

// isTracked reports whether a name such as ABC-12 in a sentence is an issue of a tracker: the
// title of a plan begins with it, or the sentence says so.
func isTracked(sentence, name string, by recall.Speaker) bool {
	low := lowered(sentence)
	return by == recall.OfPlan && strings.HasPrefix(sentence, name) ||
		by != recall.OfPlan && containsAny(low, " linear ", " issue ", " ticket ", " jira ", " story ", " work on "+strings.ToLower(name)) && !strings.HasPrefix(name, "UTF-")
}

// refer adds a reference, in place of an earlier one to the same pull request or issue, of
// which it keeps the longer name and the more important use.
func (r *reader) refer(f recall.Fact) {
	f.Kind, f.Request, f.At = recall.Reference, r.Asks, r.time()
	for i, old := range r.Facts {
		if old.Kind != recall.Reference || !sameReference(old.Text, f.Text) {
			continue
		}
		if len(old.Text) > len(f.Text) {
			f.Text = old.Text
		}
		if importance(old.Fact) > importance(f) {
			f.By, f.Why, f.Command = old.By, old.Why, old.Command
		}
		r.Facts = append(r.Facts[:i:i], r.Facts[i+1:]...)
		break
	}
	r.add(Fact{Fact: f})
}

// importance orders what a session did with a pull request or an issue.
func importance(f recall.Fact) int {
	const words, created = 3, 4
	switch {
	case f.Why == "":
		return 0
	case f.By != recall.OfAgent: // a sentence about it
		return words
	case f.Why == shellcmd.Created:
		return created
	case strings.HasPrefix(f.Why, "read"), strings.HasPrefix(f.Why, "checked"):
		return 1
	}
	return 2
}

// sameReference reports whether two names are of the same pull request or issue: they have the
// same number, and the same repository if both have one.
func sameReference(a, b string) bool {
	repositoryA, numberA := splitReference(a)
	repositoryB, numberB := splitReference(b)
	return numberA == numberB && (repositoryA == repositoryB || repositoryA == "" || repositoryB == "")
}

// splitReference returns the repository in a name, "" if it has none, and the number.
func splitReference(name string) (repository, number string) {
	if repository, number, ok := strings.Cut(name, "#"); ok {
		return repository, number
	}
	number = name[strings.LastIndexByte(name, '/')+1:]
	if parts := strings.Split(name, "/"); strings.Contains(name, "://") && strings.Trim(number, "0123456789") == "" {
		const withRepository = 7 // https: "" host owner name pull 12
		if len(parts) >= withRepository {
			repository = parts[3] + "/" + parts[4]
		}
	}
	return repository, number
}
