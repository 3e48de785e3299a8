package recall

import "strings"

// Named returns the paths that a prompt may be about: those whose base name it contains,
// and those that share a word with it that few of the paths have.
func Named(prompt string, paths []string) map[string]bool {
	l := theLexicon()
	text, _ := withoutNote(prompt[:min(len(prompt), maxPrompt)])
	t := l.parse(text)
	lower := strings.ToLower(prompt)
	words := make([]map[string]bool, len(paths))
	counts := map[string]int{}
	for i, path := range paths {
		words[i] = map[string]bool{}
		for _, part := range identifierParts(path) {
			if w := strings.ToLower(part); len(w) >= leastOfName && !l.common[stemmed(w)] && !isGeneric(w) {
				words[i][stemmed(w)] = true
			}
		}
		for w := range words[i] {
			counts[w]++
		}
	}
	const share, more = 3, 2 // up to a third of the paths may have the word, more if they are few
	named := map[string]bool{}
	for i, path := range paths {
		if strings.Contains(lower, strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])) {
			named[path] = true
		}
		for w := range words[i] {
			if t.has(w) && counts[w]*share <= len(paths)+more {
				named[path] = true
			}
		}
	}
	return named
}
