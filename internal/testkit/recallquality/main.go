// Command recallquality measures the value of briefs on real sessions. It repeats the first session
// of a pair in a scratch repository with the program's hooks, begins the second, and compares the
// brief that the second session is given with its later work. Each statement of the brief is
// checked against the transcript by rules that share no code with the program. The exit status is 1
// if one is false. docs/recall-quality.md has the method and a table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// options are the flags.
type options struct {
	samples, held    string
	fresh            string
	program, briefs  string
	only             string // a regular expression
	verbose, related bool
	reuse            bool
}

// errFalse is returned if a statement is false.
var errFalse = errors.New("false statements")

func main() {
	var o options
	flag.StringVar(&o.samples, "samples", "", "`folders` of transcripts and repositories with checkpoints, separated by spaces")
	flag.StringVar(&o.held, "held", "", "`folders` as in -samples that were held back")
	flag.StringVar(&o.fresh, "fresh", "", "`folders` as in -samples, taken as one, whose pairs that are in neither of the others are a column of their own")
	flag.StringVar(&o.program, "entire", "bin/entire", "`path` of the program")
	flag.StringVar(&o.briefs, "brief", "", "write every brief into a `folder`")
	flag.BoolVar(&o.reuse, "reuse", false, "judge the briefs that are in the folder of -brief")
	flag.StringVar(&o.only, "only", "", "only pairs whose name has a match of this regular `expression`")
	flag.BoolVar(&o.verbose, "v", false, "list every statement, not only those that are false")
	flag.BoolVar(&o.related, "pairs", false, "only list the pairs and what they have in common")
	flag.Parse()
	if o.samples+o.held+o.fresh == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "recallquality:", err)
		os.Exit(1)
	}
}

// run measures all pairs, lists the false statements and writes the table.
func run(ctx context.Context, w io.Writer, o options) error {
	var err error
	if o.program, err = filepath.Abs(o.program); err != nil {
		return err
	}
	columns, err := readColumns(ctx, o)
	if err != nil {
		return err
	}
	var halves []half
	wrong := 0
	for _, c := range columns {
		scores, err := measureAll(ctx, w, c, o)
		if err != nil {
			return err
		}
		halves = append(halves, half{c.name, scores})
		for _, s := range scores {
			list(w, s, o.verbose)
			for _, v := range s.verdicts {
				if v.false != "" {
					wrong++
				}
			}
		}
	}
	if o.related {
		return nil
	}
	table(w, halves)
	if wrong > 0 {
		return fmt.Errorf("%d %w", wrong, errFalse)
	}
	return nil
}

// column is a column of the table: pairs by sample, and for each sample the test for its
// distinctive words.
type column struct {
	name  string
	pairs [][]pair
	rare  []func(string) bool
}

// add adds the pairs of a sample. A word is distinctive if at most a tenth of its sessions have it
// in their requests.
func (c *column) add(list []pair, s sample) {
	counts := map[string]int{}
	for _, t := range s.sessions {
		for w := range topics(strings.Join(t.requests(), "\n"), func(string) bool { return true }) {
			counts[w]++
		}
	}
	const share, least = 10, 2
	rare := func(w string) bool { return counts[w] <= max(len(s.sessions)/share, least) }
	c.pairs, c.rare = append(c.pairs, list), append(c.rare, rare)
}

// readColumns returns the columns of the options.
func readColumns(ctx context.Context, o options) ([]column, error) {
	var columns []column
	used := map[string]bool{}
	for _, h := range []column{{name: "while building"}, {name: "held back"}} {
		dirs := strings.Fields(o.samples)
		if h.name == "held back" {
			dirs = strings.Fields(o.held)
		}
		for _, dir := range dirs {
			s, err := load(ctx, dir)
			if err != nil {
				return nil, err
			}
			list := s.pairs()
			for _, p := range list {
				used[p.name] = true
			}
			h.add(list, s)
		}
		if len(dirs) > 0 {
			columns = append(columns, h)
		}
	}
	if dirs := strings.Fields(o.fresh); len(dirs) > 0 {
		s, err := load(ctx, dirs...)
		if err != nil {
			return nil, err
		}
		c := column{name: "fresh"}
		// Include pairs whose second session begins on another branch.
		list := append(s.pairs(), s.following(func(_, _ *transcript) bool { return true })...)
		c.add(slices.DeleteFunc(list, func(p pair) bool {
			was := used[p.name]
			used[p.name] = true
			return was
		}), s)
		columns = append(columns, c)
	}
	return columns, nil
}

// measureAll measures the pairs of a column.
func measureAll(ctx context.Context, w io.Writer, c column, o options) ([]score, error) {
	var scores []score
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	for i, list := range c.pairs {
		list = slices.DeleteFunc(list, func(p pair) bool { return !only.MatchString(p.name) })
		if o.related {
			for _, p := range list {
				yes, why := related(p, c.rare[i])
				fmt.Fprintf(w, "%s: %s %s related=%v %s\n", c.name, p.name, p.kind, yes, why)
			}
			continue
		}
		// Measure several pairs concurrently.
		done := make([]score, len(list))
		const atOnce = 3
		var group sync.WaitGroup
		next := make(chan int)
		for range atOnce {
			group.Go(func() {
				for k := range next {
					done[k] = measure(ctx, list[k], c.rare[i], o)
				}
			})
		}
		for k := range list {
			next <- k
		}
		close(next)
		group.Wait()
		for _, s := range done {
			if s.err != nil {
				return nil, fmt.Errorf("%s: %w", s.pair.name, s.err)
			}
		}
		scores = append(scores, done...)
	}
	if len(scores) == 0 && !o.related {
		return nil, fmt.Errorf("no pairs of sessions: %s", c.name)
	}
	return scores, nil
}
