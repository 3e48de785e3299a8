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
	all     []string
	present map[string]bool
	scripts map[script]int
	// language is empty if unknown.
	language language
	lexicon  *lexicon
}

// maxAll limits text.all.
const maxAll = 2000

func (t *textWords) has(word string) bool { return t.present[word] }

func (t *textWords) empty() bool {
	return len(t.all)+len(t.identifiers)+len(t.paths)+len(t.numbers)+len(t.hashes) == 0
}

// namesPullRequest reports whether the text has the number of one of the pull requests,
// which are numbers or URLs.
func (t *textWords) namesPullRequest(list []string) bool {
	return slices.ContainsFunc(list, func(pr string) bool {
		number := pr[strings.LastIndexAny(pr, "/#")+1:]
		return slices.Contains(t.numbers, number)
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
	t := &textWords{lexicon: l, present: map[string]bool{}, scripts: map[script]int{}}
	for word := range strings.FieldsSeq(strings.ReplaceAll(s, "’", "'")) {
		if strings.Contains(word, "://") {
			for _, mark := range []string{"/pull/", "/pulls/", "/merge_requests/"} {
				if _, rest, found := strings.Cut(strings.ToLower(word), mark); found {
					n, _, _ := strings.Cut(rest, "/")
					t.number(n)
				}
			}
			continue
		}
		for field := range strings.FieldsFuncSeq(word, isSeparator) {
			t.field(strings.Trim(field, ".,;:!?'`*~-"))
		}
	}
	t.language = t.findLanguage()
	return t
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
	lower := strings.ToLower(strings.TrimPrefix(f, "@"))
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

func (t *textWords) number(s string) {
	if isNumber(s) {
		t.add(&t.numbers, s)
	}
}

// word adds a word, unless it is a stop word.
func (t *textWords) word(w string) {
	w = strings.Trim(w, ".,;:!?'`*~-_/")
	if w == "" {
		return
	}
	if len(t.all) < maxAll {
		t.all = append(t.all, w)
	}
	first, _ := utf8.DecodeRuneInString(w)
	kind := scriptOf(first)
	t.scripts[kind]++
	if kind == unseparated {
		runes := []rune(w)
		for i := range len(runes) - 1 {
			t.add(&t.words, string(runes[i:i+2]))
		}
		return
	}
	const least = 3
	if utf8.RuneCountInString(w) < least || len(t.lexicon.stop[w]) > 0 || isNumber(w) {
		return
	}
	t.add(&t.words, stemmed(w))
}

func (t *textWords) add(list *[]string, s string) {
	if s != "" && !t.present[s] {
		t.present[s] = true
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
// languages.
func stemmed(w string) string {
	const least = 4
	for _, end := range []string{"ing", "ies", "ed", "es", "s"} {
		if stem, found := strings.CutSuffix(w, end); found && len(stem) >= least && !strings.HasSuffix(stem, "s") {
			return stem
		}
	}
	return w
}
