package index

import (
	"context"
	"strings"
	"unicode/utf8"
)

// similar returns the terms with unknown words replaced by similar words of the index, and
// these replacements. It does not change prefixes.
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

const (
	// longWord is the minimum length of a word that may differ by two letters.
	longWord = 8
	// shortWord is the maximum length of a word whose first letter must be right: nearly
	// any other first letter makes it a known word.
	shortWord = 4
)

// near returns the known words that a misspelled word may stand for: the most frequent one
// that differs by a letter, or the two that it is composed of, or the most frequent one
// that differs by two. It returns none if the word itself is known. Words with the same
// first letter are preferred. Of the others it reads only those that begin with the second
// letter, or differ only in the first: reading all words would take several times as long
// as the search.
func (r *Reader) near(ctx context.Context, word string) (near []string, err error) {
	length := utf8.RuneCountInString(word)
	if length < 3 {
		return nil, nil
	}
	known := false
	err = each(ctx, r.conn, "SELECT 1 FROM vocabulary WHERE term = ?", []any{word}, func(scanner) error {
		known = true
		return nil
	})
	if err != nil || known {
		return nil, err
	}
	best := closest{word: word, most: 1}
	if length >= longWord {
		best.most = 2
	}
	_, size := utf8.DecodeRuneInString(word)
	first := word[:size]
	if err := best.from(ctx, r, first); err != nil {
		return nil, err
	}
	if best.term != "" && best.distance <= 1 {
		return []string{best.term}, nil
	}
	if length <= shortWord {
		return nil, nil
	}
	if parts, err := r.parts(ctx, word); err != nil || len(parts) > 0 {
		return parts, err
	}
	runes := []rune(word)
	if err := best.from(ctx, r, string(runes[1])); err != nil {
		return nil, err
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	others := make([]any, 0, 2*len(letters)) //nolint:mnd // another first letter, or one before it
	for _, other := range letters {
		others = append(others, string(other)+word[size:], string(other)+word)
	}
	if err := best.of(ctx, r, "term IN (?"+strings.Repeat(", ?", len(others)-1)+")", others...); err != nil {
		return nil, err
	}
	if best.term == "" {
		return nil, nil
	}
	return []string{best.term}, nil
}

// parts returns the two known words that a word is composed of, or none. Nearly every
// combination of two letters is known, so a part of two letters requires another of at
// least four.
func (r *Reader) parts(ctx context.Context, word string) ([]string, error) {
	const least, together = 2, 6
	if len(word) < together {
		return nil, nil
	}
	var splits []int
	var parts []any
	for i := len(word) - least; i >= least; i-- {
		if utf8.RuneStart(word[i]) {
			splits, parts = append(splits, i), append(parts, word[:i], word[i:])
		}
	}
	known := map[string]bool{}
	err := each(ctx, r.conn, "SELECT term FROM vocabulary WHERE term IN (?"+strings.Repeat(", ?", len(parts)-1)+")", parts, func(rows scanner) error {
		var term string
		err := rows.Scan(&term)
		known[term] = true
		return err
	})
	for _, i := range splits {
		if known[word[:i]] && known[word[i:]] {
			return []string{word[:i], word[i:]}, err
		}
	}
	return nil, err
}

// closest is the known word that differs least from word, by at most most letters. Of
// several such words it is the one in the most turns.
type closest struct {
	word string
	most int

	term            string
	distance, turns int
}

// from searches the words with a prefix.
func (c *closest) from(ctx context.Context, r *Reader, begin string) error {
	return c.of(ctx, r, "term BETWEEN ? AND ?", begin, begin+"\U0010ffff")
}

// of searches the words of the vocabulary that match a condition.
func (c *closest) of(ctx context.Context, r *Reader, condition string, args ...any) error {
	length := utf8.RuneCountInString(c.word)
	args = append(args, length-c.most, length+c.most)
	return each(ctx, r.conn, "SELECT term, doc FROM vocabulary WHERE "+condition+" AND length(term) BETWEEN max(2, ?) AND ?", args, func(rows scanner) error {
		var term string
		var turns int
		if err := rows.Scan(&term, &turns); err != nil {
			return err
		}
		limit := c.most
		if c.term != "" {
			limit = c.distance
		}
		if d := distance(c.word, term, limit); d <= limit && (c.term == "" || d < c.distance || turns > c.turns) {
			c.term, c.distance, c.turns = term, d, turns
		}
		return nil
	})
}

// distance returns the number of letters to insert, delete, replace or swap with the next
// one to turn a into b. If that exceeds most, it returns any value above most.
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
