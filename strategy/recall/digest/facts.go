package digest

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// Fact is a fact of the session; its files are absolute.
type Fact struct {
	recall.Fact

	// Following is set while the files that are edited next are added to Files.
	Following bool `json:"following,omitempty"`
}

// factBound returns the bound of the facts of a kind. Each kind has its own, so that none
// crowds out another; together they are at most 60 facts in 16 KiB. Failures are not among
// them, see Digest.Troubles.
func factBound(kind recall.FactKind) plain.Bound {
	switch kind {
	case recall.Decision:
		return plain.Bound{Items: 24, Bytes: 13 << 9}
	case recall.Rule:
		return plain.Bound{Items: 10, Bytes: 5 << 9}
	case recall.Attempt:
		return plain.Bound{Items: 8, Bytes: 5 << 9}
	case recall.Reference:
		return plain.Bound{Items: 8, Bytes: 4 << 9}
	case recall.Environment, recall.Failure:
	}
	return plain.Bound{Items: 10, Bytes: 5 << 9}
}

// maxFactFiles is the limit of the files of a fact.
const maxFactFiles = 4

func (f Fact) weight() int {
	const fields = 150 // their names, the kind, the speaker, the numbers and the time
	n := plain.JSONSize(f.Text) + plain.JSONSize(f.Why) + plain.JSONSize(f.Plan) + plain.JSONSize(f.Command) + fields
	for _, path := range f.Files {
		n += plain.JSONSize(path) + len(`"",`)
	}
	return n
}

// learn adds a fact. It replaces earlier ones that say the same, and decisions that it
// reverses. If following, a fact without files gets those that are edited next within the
// request.
func (r *reader) learn(f recall.Fact, following bool) {
	if f.Text == "" {
		return
	}
	f.Request, f.At = r.Asks, r.time()
	words, chosen, rejected := contentWords(f.Text), []string(nil), []string(nil)
	if f.Kind == recall.Decision {
		chosen, rejected = alternativesOf(f.Text)
	}
	following = following && len(f.Files) == 0
	r.Facts = slices.DeleteFunc(r.Facts, func(old Fact) bool {
		switch {
		case old.Kind != f.Kind:
			return false
		case old.Text == f.Text, overlap(contentWords(old.Text), words) >= same:
			if old.Request != f.Request && f.By == recall.Person {
				f.Times = max(old.Times, 1) + 1
			}
			f.Why = cmp.Or(f.Why, old.Why)
			if len(f.Files) == 0 {
				f.Files = old.Files
			}
			return true
		case f.Kind == recall.Decision && len(rejected) > 0:
			oldChosen, oldRejected := alternativesOf(old.Text)
			return overlap(oldChosen, rejected) >= similar && overlap(oldRejected, chosen) >= similar
		}
		return false
	})
	r.add(Fact{Fact: f, Following: following})
}

// add appends a fact, and drops the first ones of its kind beyond the bound.
func (r *reader) add(f Fact) {
	r.Facts = append(r.Facts, f)
	var ofKind []Fact
	for _, old := range r.Facts {
		if old.Kind == f.Kind {
			ofKind = append(ofKind, old)
		}
	}
	surplus := len(ofKind) - len(plain.Last(ofKind, factBound(f.Kind), Fact.weight))
	r.Facts = slices.DeleteFunc(r.Facts, func(old Fact) bool {
		if old.Kind == f.Kind && surplus > 0 {
			surplus--
			return true
		}
		return false
	})
}

// time returns the time of the line that is read, zero if it has none.
func (r *reader) time() time.Time {
	at, err := time.Parse(time.RFC3339, r.raw.Member("timestamp").Text())
	if err != nil {
		return time.Time{}
	}
	return at.UTC().Truncate(time.Second)
}

// follow adds an edited file to the facts that are open for it.
func (d *Digest) follow(path string) {
	for i := range d.Facts {
		f := &d.Facts[i]
		if f.Following && len(f.Files) < maxFactFiles && !slices.Contains(f.Files, path) {
			f.Files = append(slices.Clip(f.Files), path) // a copy: an error restores the former list
		}
	}
}

// changed returns the files that were edited since the last request, nil if there are many.
func (d *Digest) changed() []string {
	var files []string
	for _, n := range d.Notes {
		if n.Request == d.Asks {
			files = append(files, n.Path)
		}
	}
	if len(files) >= maxFactFiles {
		return nil
	}
	return files
}

// stopFollowing closes the facts for further files.
func (d *Digest) stopFollowing() {
	for i := range d.Facts {
		d.Facts[i].Following = false
	}
}

// mentioned returns the files that a text names: known ones by their names, others by a path
// with a folder and an extension.
func (r *reader) mentioned(text string) []string {
	var found []string
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("._-/@+~", c)
	}) {
		word = strings.Trim(word, ".-")
		ext := filepath.Ext(word)
		if len(found) == maxFactFiles || len(ext) < 2 || len(ext) == len(word) || strings.Contains(word, "//") {
			continue
		}
		path := ""
		for _, u := range slices.Backward(r.Uses) {
			if strings.HasSuffix(u.Path, "/"+strings.TrimPrefix(word, "./")) {
				path = u.Path
				break
			}
		}
		dir := strings.TrimPrefix(filepath.Dir(word), "./")
		if path == "" && dir != "." && !strings.Contains(strings.TrimPrefix(strings.ReplaceAll(dir, "/.", "/"), "."), ".") && len(ext) <= 6 && strings.Trim(ext[1:], "0123456789") != "" {
			path = plain.Head(shellcmd.ResolvePath(word, r.Cwd), maxPath)
			if !strings.HasPrefix(path, r.Cwd+"/") || ext == ".git" {
				path = ""
			}
		}
		if path != "" && !slices.Contains(found, path) {
			found = append(found, r.redact.Path(path))
		}
	}
	return found
}

// The overlap of the words of two texts from which on they say the same, or are about the
// same.
const (
	same    = 0.75
	similar = 0.5
)

// overlap returns the share of the words that two lists have in common, 0 if one is empty.
func overlap(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	common := 0
	for _, word := range a {
		if slices.Contains(b, word) {
			common++
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

// contentWords returns the distinct words of a text in lower case, except those of grammar.
func contentWords(text string) []string {
	grammar := strings.Fields(`a an the and or but so to of in on at by for with from as is are was were be been it its this that these those we i
	you they he she do does did have has had not no now just also then than into if will would should can could let's lets please our my your user yes ok`)
	const most = 60
	var words []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '\'' }) {
		if !slices.Contains(grammar, word) && !slices.Contains(words, word) && len(words) < most {
			words = append(words, word)
		}
	}
	return words
}

// alternativesOf returns the words of the alternative that a decision chooses and of the one
// that it rejects; rejected is nil if it names none.
func alternativesOf(text string) (chosen, rejected []string) {
	low := strings.ToLower(text)
	for _, contrast := range []string{" instead of ", " rather than ", ", not ", " not "} {
		if before, after, ok := strings.Cut(low, contrast); ok {
			return contentWords(before), contentWords(after)
		}
	}
	return contentWords(text), nil
}

// facts returns the facts with paths relative to the root, the oldest first, then the checks
// that fail.
func (r report) facts() []recall.Fact {
	list := make([]recall.Fact, 0, len(r.Facts))
	for _, f := range r.Facts {
		list = append(list, f.Fact)
	}
	for _, t := range r.Troubles {
		if t.Kind == FailedCommand {
			list = append(list, recall.Fact{
				Kind: recall.Failure, By: recall.Output, Text: t.Text, Why: t.Why, Files: t.Files, Command: t.Text, Request: t.Request, At: t.At,
			})
		}
	}
	for i := range list {
		f := &list[i]
		f.Files = slices.Clone(f.Files)
		for k, path := range f.Files {
			f.Files[k] = r.src.relative(path)
		}
		f.Text, f.Command = r.src.short(f.Text), r.src.withoutCd(f.Command)
	}
	return list
}

// decisions returns the decisions in the common format: those of the person and of accepted
// plans first.
func (r report) decisions() []string {
	var list, agents []string
	for _, f := range r.Facts {
		text := strings.TrimSpace(f.Text + " " + f.Why)
		switch {
		case f.Kind != recall.Decision:
		case f.By == recall.OfAgent:
			agents = append(agents, agentSaid+text)
		case f.By == recall.OfPlan && f.Plan == "":
			list = append(list, planAccepted+text)
		case f.By == recall.OfPlan:
			list = append(list, planSaid+text)
		default:
			list = append(list, userSaid+text)
		}
	}
	return append(list, agents...)
}
