package index

import (
	"context"
	"strings"
	"unicode/utf8"
)

// similar returns the terms with words that the index has in the place of those that it
// doesn't, and which they are. Prefixes stay.
func (r *Reader) similar(ctx context.Context, terms []term) (_ []term, instead map[string]string, err error) {
	out := make([]term, 0, len(terms))
	for _, t := range terms {
		if t.prefix {
			out = append(out, t)
			continue
		}
		other := term{}
		for _, word := range t.words {
			near, err := r.near(ctx, word)
			if err != nil {
				return nil, nil, err
			}
			if len(near) == 0 {
				other.words = append(other.words, word)
				continue
			}
			if instead == nil {
				instead = map[string]string{}
			}
			instead[word] = strings.Join(near, " ")
			other.words = append(other.words, near...)
		}
		out = append(out, other)
	}
	return out, instead, nil
}

// longWord is from how many letters on two may differ.
const longWord = 8

// near returns the known words that a word may be meant to be: the most frequent one that
// differs by a letter, or the two that it is made of. None if the word itself is known.
func (r *Reader) near(ctx context.Context, word string) (near []string, err error) {
	length := utf8.RuneCountInString(word)
	if length < 3 {
		return nil, nil
	}
	most := 1
	if length >= longWord {
		most = 2
	}
	known := map[string]bool{}
	best, bestDistance, bestTurns := "", most+1, 0
	err = each(ctx, r.conn, "SELECT term, doc FROM vocabulary WHERE length(term) BETWEEN 2 AND ?", []any{length + most}, func(rows scanner) error {
		var term string
		var turns int
		if err := rows.Scan(&term, &turns); err != nil {
			return err
		}
		if len(term) < len(word) && strings.HasPrefix(word, term) || strings.HasSuffix(word, term) {
			known[term] = true
		}
		if utf8.RuneCountInString(term) < length-most {
			return nil
		}
		if d := distance(word, term, bestDistance); d < bestDistance || d == bestDistance && d <= most && turns > bestTurns {
			best, bestDistance, bestTurns = term, d, turns
		}
		return nil
	})
	switch {
	case err != nil || known[word]:
		return nil, err
	case best != "" && bestDistance <= 1:
		return []string{best}, nil
	}
	for i := len(word) - 2; i >= 2; i-- {
		if known[word[:i]] && known[word[i:]] {
			return []string{word[:i], word[i:]}, nil
		}
	}
	if best != "" {
		return []string{best}, nil
	}
	return nil, nil
}

// distance is how many letters have to be put in, taken out, replaced or exchanged with the
// next one to make b of a; something above most if that is more than most.
func distance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > most || len(y)-len(x) > most {
		return most + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
