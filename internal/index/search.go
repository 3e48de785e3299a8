package index

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// Query is a search.
type Query struct {
	Text   string
	Kinds  []Kind // none: all
	Filter Filter
	Limit  int
	Now    time.Time
}

// Hit is a turn found by a search.
type Hit struct {
	Row

	Kind Kind
	// Excerpt is a part of the text of that kind, in pieces.
	Excerpt []Piece
	Score   float64
}

// Piece is a part of a text. Found is set if it matches a term of the query.
type Piece struct {
	Text  string
	Found bool
}

// Found is the result of a search.
type Found struct {
	Hits []Hit
	// More is the number of further hits.
	More int
	// Instead maps words that are not in the index to the words searched for instead.
	Instead map[string]string
}

// weights are the bm25 weights of the columns of words, in the order of the kinds.
const weights = "4.0, 1.0, 2.0, 0.5, 3.0, 0.5"

// halfLife is the age at which the score of a hit is halved, in milliseconds.
const halfLife = "7776000000.0"

// Search returns the turns that have all words of a query, the best first. If there are
// none it searches for similar words.
func (r *Reader) Search(ctx context.Context, q Query) (Found, error) {
	terms := parse(q.Text)
	if len(terms) == 0 {
		return Found{}, nil
	}
	found, err := r.search(ctx, q, terms)
	if err != nil || len(found.Hits) > 0 {
		return found, err
	}
	similar, instead, err := r.similar(ctx, terms)
	if err != nil || len(instead) == 0 {
		return found, err
	}
	found, err = r.search(ctx, q, similar)
	found.Instead = instead
	return found, err
}

func (r *Reader) search(ctx context.Context, q Query, terms []term) (found Found, err error) {
	where, args := q.Filter.condition()
	query := "WITH hits AS MATERIALIZED (SELECT rowid AS id, bm25(words, " + weights + ") AS rank FROM words WHERE words MATCH ?)\nSELECT " + rowColumns() + `,
    h.rank * max(0.25, 1.0 / (1.0 + max(0, ? - t.ended) / ` + halfLife + `)) AS score, count(*) OVER ()
FROM hits h JOIN turns t ON t.id = h.id JOIN sessions s ON s.id = t.session WHERE ` + where + " ORDER BY score, t.id DESC LIMIT ?"
	args = append(append([]any{expression(terms, q.Kinds), millis(q.Now)}, args...), q.Limit)
	total := 0
	err = each(ctx, r.conn, query, args, func(rows scanner) error {
		var h Hit
		var at, ended int64
		if err := rows.Scan(append(h.targets(&at, &ended), &h.Score, &total)...); err != nil {
			return err
		}
		h.At, h.Ended, h.Score = fromMillis(at), fromMillis(ended), -h.Score
		found.Hits = append(found.Hits, h)
		return nil
	})
	if err != nil {
		return Found{}, err
	}
	found.More = total - len(found.Hits)
	unzip, err := newDecoder()
	if err != nil {
		return Found{}, err
	}
	defer unzip.Close()
	for i := range found.Hits {
		if err := r.complete(ctx, &found.Hits[i].Row); err != nil {
			return Found{}, err
		}
		if err := r.excerpt(ctx, unzip, &found.Hits[i], q.Kinds, terms); err != nil {
			return Found{}, err
		}
	}
	return found, nil
}

// excerpt sets the kind and the excerpt of a hit from the text with the most terms.
func (r *Reader) excerpt(ctx context.Context, unzip *zstd.Decoder, h *Hit, wanted []Kind, terms []term) error {
	most := 0
	for _, kind := range []Kind{Prompt, Command, File, Answer, Output, Subagent} { // in order of preference
		if len(wanted) > 0 && !slices.Contains(wanted, kind) {
			continue
		}
		text := "" // stays empty if the turn has none
		id := h.ID*textIDs + int64(kind)
		err := each(ctx, r.conn, "SELECT z FROM texts WHERE id = ?", []any{id}, func(rows scanner) error {
			var z []byte
			err := rows.Scan(&z)
			if err == nil {
				text, err = decompress(unzip, z)
			}
			return err
		})
		if err != nil {
			return err
		}
		places, found := find(text, terms, mostPlaces)
		if found > most {
			most, h.Kind, h.Excerpt = found, kind, around(text, places)
		}
		if found == len(terms) {
			return nil
		}
	}
	return nil
}

const (
	mostPlaces = 200
	// excerptBefore is the length of an excerpt before the first match, excerptLength its
	// maximum length, in bytes.
	excerptBefore = 60
	excerptLength = 240
)

// around returns the part of a text with the most matches, on one line.
func around(text string, places []match) []Piece {
	bestAt, most := 0, 0
	for i, p := range places {
		n := 0
		for _, o := range places[i:] {
			if o.start < p.start+excerptLength-excerptBefore {
				n++
			}
		}
		if n > most {
			bestAt, most = i, n
		}
	}
	if most == 0 {
		return nil
	}
	from := max(0, places[bestAt].start-excerptBefore)
	if from > 0 { // begin with a whole word if possible
		if n := strings.IndexFunc(text[from:places[bestAt].start], unicode.IsSpace); n >= 0 {
			from += n
		} else {
			for !utf8.RuneStart(text[from]) {
				from++
			}
		}
	}
	to := min(len(text), from+excerptLength)
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	var pieces []Piece
	at := from
	for _, p := range places[bestAt:] {
		if p.start < at || p.end > to {
			continue
		}
		pieces = append(pieces, Piece{oneLine(text[at:p.start]), false}, Piece{oneLine(text[p.start:p.end]), true})
		at = p.end
	}
	pieces = append(pieces, Piece{oneLine(text[at:to]), false})
	if from > 0 {
		pieces[0].Text = "… " + pieces[0].Text
	}
	if to < len(text) {
		pieces[len(pieces)-1].Text += " …"
	}
	return slices.DeleteFunc(pieces, func(p Piece) bool { return p.Text == "" })
}

// oneLine returns a text with each run of white space replaced by a single space.
func oneLine(text string) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if space {
		b.WriteByte(' ')
	}
	return b.String()
}
