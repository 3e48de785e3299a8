// Command recallquality measures what a brief is worth on real sessions. It repeats the
// first session of a pair in a scratch repository with the program's hooks, begins the
// second, and compares what that is given with what it then did. Each statement of the
// brief is checked against the transcript by rules that share no code with the program.
// The exit status is 1 if one is false. docs/recall-quality.md has the method and a table.
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
	"strings"
	"sync"
)

// options are the flags.
type options struct {
	samples, held    string
	program, briefs  string
	only             string
	verbose, related bool
	reuse            bool
}

// errFalse is returned if a statement is false.
var errFalse = errors.New("false statements")

func main() {
	var o options
	flag.StringVar(&o.samples, "samples", "", "`folders` of transcripts and repositories with checkpoints, separated by spaces")
	flag.StringVar(&o.held, "held", "", "`folders` as in -samples that were held back")
	flag.StringVar(&o.program, "entire", "bin/entire", "`path` of the program")
	flag.StringVar(&o.briefs, "brief", "", "write every brief into a `folder`")
	flag.BoolVar(&o.reuse, "reuse", false, "judge the briefs that are in the folder of -brief")
	flag.StringVar(&o.only, "only", "", "only pairs whose name has this `text`")
	flag.BoolVar(&o.verbose, "v", false, "list every statement, not only those that are false")
	flag.BoolVar(&o.related, "pairs", false, "only list the pairs and what they have in common")
	flag.Parse()
	if o.samples+o.held == "" || flag.NArg() > 0 {
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

// run measures all pairs, lists what is false and writes the table.
func run(ctx context.Context, w io.Writer, o options) error {
	var err error
	if o.program, err = filepath.Abs(o.program); err != nil {
		return err
	}
	var halves []half
	wrong := 0
	for _, h := range []struct{ name, samples string }{{"while building", o.samples}, {"held back", o.held}} {
		if h.samples == "" {
			continue
		}
		scores, err := measureAll(ctx, w, h.samples, o)
		if err != nil {
			return err
		}
		halves = append(halves, half{h.name, scores})
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

// measureAll measures the pairs of samples.
func measureAll(ctx context.Context, w io.Writer, samples string, o options) ([]score, error) {
	var scores []score
	for dir := range strings.FieldsSeq(samples) {
		s, err := load(ctx, dir)
		if err != nil {
			return nil, err
		}
		rare := rareWords(s.sessions)
		var chosen []pair
		for _, p := range s.pairs() {
			if strings.Contains(p.name, o.only) {
				chosen = append(chosen, p)
			}
		}
		if o.related {
			for _, p := range chosen {
				yes, why := related(p, rare)
				fmt.Fprintf(w, "%s %s related=%v %s\n", p.name, p.kind, yes, why)
			}
			continue
		}
		done := measurePairs(ctx, chosen, rare, o)
		for _, s := range done {
			if s.err != nil {
				return nil, fmt.Errorf("%s: %w", s.pair.name, s.err)
			}
		}
		scores = append(scores, done...)
	}
	if len(scores) == 0 && !o.related {
		return nil, fmt.Errorf("no pairs of sessions in %s", samples)
	}
	return scores, nil
}

// measurePairs measures several pairs at a time.
func measurePairs(ctx context.Context, pairs []pair, rare func(string) bool, o options) []score {
	scores := make([]score, len(pairs))
	const atOnce = 3
	var group sync.WaitGroup
	next := make(chan int)
	for range atOnce {
		group.Go(func() {
			for i := range next {
				scores[i] = measure(ctx, pairs[i], rare, o)
			}
		})
	}
	for i := range pairs {
		next <- i
	}
	close(next)
	group.Wait()
	return scores
}
