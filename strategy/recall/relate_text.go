package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textWords holds the parts of a text in lower case, in the order of the text. Only the list all
// has duplicates.
type textWords struct {
	// words are stemmed and without stop words. For scripts that don't separate words they
	// are pairs of characters.
	words []string
	// identifiers are names in the forms used in code: camelCase, snake_case, kebab-case
	// with at least three parts.
	identifiers []string
	// paths has paths and names of files.
	paths []string
	// numbers are those that begin with # or follow "PR", and those in the URLs of pull
	// requests.
	numbers []string
	hashes  []string
	// all has the words unstemmed and with stop words, at most maxAll.
	all []string
	// counts has how often each name and word occurs.
	counts map[string]int
	// typed reports whether a person typed the text, maybe with swapped letters.
	typed bool
	// pairs are adjacent words of which at least one is uncommon.
	pairs []string
	last  string // the last word, empty after a stop word
	// leading has the words at the start of the text.
	leading map[string]bool
	lexicon *lexicon
}

// maxAll limits textWords.all, maxLeading the words of textWords.leading.
const (
	maxAll     = 2000
	maxLeading = 40
)

func (t *textWords) has(word string) bool { return t.counts[word] > 0 }

func (t *textWords) empty() bool {
	return len(t.all)+len(t.identifiers)+len(t.paths)+len(t.numbers)+len(t.hashes) == 0
}

// namesPullRequest reports whether the text has the number of one of the pull requests,
// which are numbers or URLs. In a short text about a pull request any number may be one.
func (t *textWords) namesPullRequest(list []string) bool {
	return slices.ContainsFunc(list, func(pr string) bool {
		number := pr[strings.LastIndexAny(pr, "/#")+1:]
		return slices.Contains(t.numbers, number) || len(number) > 1 && slices.Contains(head(t.all), number) && t.lexicon.has(t.all, requestList)
	})
}

// namesCommit reports whether the text has a hash that is a prefix of one of the hashes, or
// has one of them as a prefix.
func (t *textWords) namesCommit(list []string) bool {
	return slices.ContainsFunc(list, func(hash string) bool {
		return slices.ContainsFunc(t.hashes, func(h string) bool {
			return hash != "" && (strings.HasPrefix(h, hash) || strings.HasPrefix(hash, h))
		})
	})
}

// parse splits a text.
func (l *lexicon) parse(s string) *textWords {
	t := &textWords{lexicon: l, counts: map[string]int{}, leading: map[string]bool{}}
	t.read(s)
	return t
}

// parsePrompt splits the text of a prompt.
func (l *lexicon) parsePrompt(s string) *textWords {
	t := &textWords{lexicon: l, counts: map[string]int{}, leading: map[string]bool{}, typed: true}
	t.read(s)
	return t
}

func (t *textWords) read(s string) {
	for word := range strings.FieldsSeq(strings.ReplaceAll(s, "’", "'")) {
		if strings.Contains(word, "://") {
			for _, mark := range []string{"/pull/", "/pulls/", "/merge_requests/"} {
				if _, rest, found := strings.Cut(strings.ToLower(word), mark); found {
					n, _, _ := strings.Cut(rest, "/")
					t.number(n)
				}
			}
			t.add(&t.identifiers, strings.ToLower(strings.Trim(word, ".,;:!?'`*\"()<>[]")))
			continue
		}
		for field := range strings.FieldsFuncSeq(word, isSeparator) {
			t.field(strings.Trim(field, ".,;:!?'`*~-"))
		}
	}
}

// isSeparator reports whether a character separates words, paths and identifiers.
func isSeparator(r rune) bool {
	switch r {
	case '/', '.', '_', '-', '#', '\'', ':', '@', '~':
		return false
	}
	return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) || unicode.IsControl(r)
}

// field adds a field, the text between two separators.
func (t *textWords) field(f string) {
	if f == "" {
		return
	}
	lower := withoutLine(strings.ToLower(strings.TrimPrefix(f, "@")))
	switch {
	case strings.HasPrefix(lower, "#"):
		t.number(lower[1:])
		return
	case isPath(lower):
		t.add(&t.paths, strings.TrimPrefix(strings.TrimPrefix(lower, "~"), "./"))
		return
	case isHash(lower):
		t.add(&t.hashes, lower)
		return
	}
	if len(t.all) > 0 && isNumber(lower) && slices.Contains([]string{"pr", "mr", "pull", "request"}, t.all[len(t.all)-1]) {
		t.number(lower)
	}
	if isIdentifier(f) && !t.lexicon.common[lower] {
		t.add(&t.identifiers, lower)
	}
	for _, part := range identifierParts(f) {
		t.word(strings.ToLower(part))
	}
}

// withoutLine removes the numbers of lines and columns after a path: a.go:12:3, a.go:12-15.
func withoutLine(path string) string {
	for {
		at := strings.LastIndexByte(path, ':')
		if at <= 0 || strings.Trim(path[at+1:], "0123456789-") != "" || !strings.Contains(path[:at], ".") {
			return path
		}
		path = path[:at]
	}
}

func (t *textWords) number(s string) {
	const digit = 1 // a single one is that of an item in a list
	if isNumber(s) && len(s) > digit {
		t.add(&t.numbers, s)
		t.add(&t.identifiers, "#"+s)
	}
}

// word adds a word, unless it is a stop word.
func (t *textWords) word(w string) {
	w = strings.Trim(w, ".,;:!?'`*~-_/")
	if w == "" {
		return
	}
	if t.typed && len(t.all) < short {
		w = t.lexicon.corrected(w)
	}
	if len(t.all) < maxAll {
		t.all = append(t.all, w)
	}
	first, _ := utf8.DecodeRuneInString(w)
	if scriptOf(first) == unseparated {
		runes := []rune(w)
		for i := range len(runes) - 1 {
			t.add(&t.words, string(runes[i:i+2]))
		}
		return
	}
	const least = 3
	if utf8.RuneCountInString(w) < least || t.lexicon.stop[w] || isNumber(w) {
		t.last = ""
		return
	}
	w = stemmed(w)
	t.add(&t.words, w)
	if t.last != "" && (!t.lexicon.common[w] || !t.lexicon.common[t.last]) {
		t.add(&t.pairs, t.last+" "+w)
	}
	t.last = w
	if len(t.all) <= maxLeading {
		t.leading[w] = true
	}
}

// corrected returns the word of the lists that w becomes if two adjacent letters are swapped,
// else w.
func (l *lexicon) corrected(w string) string {
	const least, most = 3, 10 // letters
	if len(w) < least || len(w) > most || l.knows(w) {
		return w
	}
	swapped := []byte(w)
	for i := range len(w) - 1 {
		swapped[i], swapped[i+1] = w[i+1], w[i]
		if w[i] != w[i+1] && l.knows(string(swapped)) {
			return string(swapped)
		}
		swapped[i], swapped[i+1] = w[i], w[i+1]
	}
	return w
}

func (t *textWords) add(list *[]string, s string) {
	if s == "" {
		return
	}
	if t.counts[s]++; t.counts[s] == 1 {
		*list = append(*list, s)
	}
}

// identifierParts splits an identifier into its words.
func identifierParts(f string) []string {
	var list []string
	begin, before := 0, ' '
	for i, r := range f {
		switch {
		case strings.ContainsRune("_-./:", r):
			if i > begin {
				list = append(list, f[begin:i])
			}
			begin = i + utf8.RuneLen(r)
		case unicode.IsUpper(r) && unicode.IsLower(before) && i > begin:
			list = append(list, f[begin:i])
			begin = i
		}
		before = r
	}
	if begin < len(f) {
		list = append(list, f[begin:])
	}
	return list
}

// isPath reports whether a field has the form of a path or a file's name.
func isPath(f string) bool {
	const shortest, longest, least = 1, 6, 4 // of an extension; of the whole name: excludes "e.g"
	if !strings.ContainsFunc(f, unicode.IsLetter) {
		return false
	}
	ext := f[strings.LastIndexByte(f, '.')+1:]
	isWord := !strings.ContainsFunc(ext, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	named := ext != f && len(ext) >= shortest && len(ext) <= longest && isWord && !isNumber(ext) && len(f) >= least
	return named || strings.Count(f, "/") >= 2 || strings.HasPrefix(f, "./") || strings.HasSuffix(f, "/") && len(f) > 1
}

func isNumber(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// isHash reports whether a field has the form of a commit hash, maybe abbreviated: hex
// digits, both letters and numbers.
func isHash(f string) bool {
	const shortest, longest = 7, 40
	if len(f) < shortest || len(f) > longest || isNumber(f) || !strings.ContainsAny(f, "0123456789") {
		return false
	}
	return !strings.ContainsFunc(f, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

// isIdentifier reports whether a field has the form of an identifier: with an upper case
// letter after a lower case one, an underscore, or at least two hyphens.
func isIdentifier(f string) bool {
	if strings.Contains(f, "_") {
		return true
	}
	before := ' '
	for _, r := range f {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			return true
		}
		before = r
	}
	const joined = 2
	return strings.Count(f, "-") >= joined
}

// stemmed removes the most frequent English endings, which does little harm to other
// languages: delivery, deliveries and delivered have the same stem, and so have validate and
// validation.
func stemmed(w string) string {
	const least = 4
	for _, end := range []string{"ations", "ation", "ating", "ates", "ated", "ate", "ions", "ion", "ings", "ing", "ies", "ed", "es", "s"} {
		if stem, found := strings.CutSuffix(w, end); found && len(stem) >= least && !strings.HasSuffix(stem, "s") {
			w = stem
			break
		}
	}
	for _, end := range []string{"er", "e", "y"} {
		if stem, found := strings.CutSuffix(w, end); found && len(stem) >= least {
			w = stem
		}
	}
	if n := len(w); n > least && w[n-1] == w[n-2] {
		w = w[:n-1]
	}
	return w
}
