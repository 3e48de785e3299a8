package recall

// ContentWords returns for each text its words that have a meaning of their own, in lower case and
// without endings, with its identifiers and the names of files.
func ContentWords(texts ...string) []map[string]bool {
	l := newLexicon()
	list := make([]map[string]bool, len(texts))
	for i, text := range texts {
		t := l.parse(text[:min(len(text), maxPrompt)])
		list[i] = map[string]bool{}
		for _, words := range [][]string{t.words, t.identifiers, t.paths} {
			for _, w := range words {
				if !l.common[w] {
					list[i][w] = true
				}
			}
		}
	}
	return list
}

// NamesSubject reports whether a request names what it is about: it is a plan, or has at least three
// words with a meaning of their own, or a file or an identifier. "commit this" and "yes" do not.
func NamesSubject(request string) bool {
	const least = 3
	l := newLexicon()
	t := l.parse(request[:min(len(request), maxPrompt)])
	return IsPlan(request) || len(t.paths)+len(t.identifiers) > 0 || len(t.words) >= least && !l.confirms(t)
}
