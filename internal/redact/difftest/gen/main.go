// Command gen writes the table of rules that package redact holds, from
// gitleaks' rule file.
//
//	go run ./gen [-o ../table.go] [-rules ../rules/gitleaks.toml]
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
)

func main() {
	out := flag.String("o", "../table.go", "file to write")
	in := flag.String("rules", "../rules/gitleaks.toml", "rule file to read")
	flag.Parse()
	if err := run(*in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	data, err := os.ReadFile(in)
	if err != nil {
		return fmt.Errorf("read rules: %w", err)
	}
	cfg, err := load(data)
	if err != nil {
		return fmt.Errorf("read rules %s: %w", in, err)
	}
	t, err := tabulate(cfg)
	if err != nil {
		return err
	}
	src, err := t.source()
	if err != nil {
		return fmt.Errorf("format table: %w", err)
	}
	return os.WriteFile(out, src, 0o644)
}

func load(data []byte) (config.Config, error) {
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(bytes.NewReader(data)); err != nil {
		return config.Config{}, err
	}
	var vc config.ViperConfig
	if err := v.Unmarshal(&vc); err != nil {
		return config.Config{}, err
	}
	return vc.Translate()
}

// table is everything that is written.
type table struct {
	rules    []entry
	literals []string
	classes  classTable
	allow    []allowEntry // the first is the global one
}

type allowEntry struct {
	expr, target string
	needs        []string
	stopwords    []string
}

func tabulate(cfg config.Config) (*table, error) {
	t := &table{}
	if len(cfg.Allowlists) != 1 {
		return nil, fmt.Errorf("%d global allowlists, want 1", len(cfg.Allowlists))
	}
	t.allow = append(t.allow, allowOf(cfg.Allowlists[0]))
	for _, r := range cfg.GetOrderedRules() {
		if !fires(r) {
			continue
		}
		if len(r.Keywords) == 0 || len(r.RequiredRules) > 0 {
			return nil, fmt.Errorf("rule %s: no keywords, or needs other rules", r.RuleID)
		}
		e := planned(r)
		for _, a := range r.Allowlists {
			// An "and" list that also asks for a path allows nothing without one.
			and := a.MatchCondition == config.AllowlistMatchAnd
			if and && len(a.Paths)+len(a.Commits) > 0 || len(a.Regexes)+len(a.StopWords) == 0 {
				continue
			}
			if and {
				return nil, fmt.Errorf("rule %s: allowlist with condition AND", r.RuleID)
			}
			e.allow = append(e.allow, len(t.allow))
			t.allow = append(t.allow, allowOf(a))
		}
		t.rules = append(t.rules, e)
	}
	t.collectLiterals()
	return t, nil
}

func allowOf(a *config.Allowlist) allowEntry {
	e := allowEntry{target: "targetSecret", stopwords: minimal(a.StopWords)}
	switch a.RegexTarget {
	case "match":
		e.target = "targetMatch"
	case "line":
		e.target = "targetLine"
	}
	if len(a.Regexes) == 0 {
		return e
	}
	e.expr = joined(a.Regexes)
	if e.target == "targetLine" {
		for _, s := range sequences(parse(e.expr)) {
			lit, _ := s.literal()
			e.needs = append(e.needs, lit)
			if len(lit) < 4 || !s.exact(lit) {
				e.needs = nil
				break
			}
		}
	}
	return e
}

// exact reports whether lit, in this case, is in every match of s.
func (s sequence) exact(lit string) bool {
	_, off := s.literal()
	for i := range len(lit) {
		if bs := s.classes[off+i].bytes(); len(bs) != 1 || bs[0] != lit[i] {
			return false
		}
	}
	return true
}

// minimal sorts words and drops those that hold another.
func minimal(words []string) []string {
	var kept []string
	for _, w := range words {
		if !slices.ContainsFunc(words, func(o string) bool { return o != w && strings.Contains(w, o) }) {
			kept = append(kept, w)
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

func (t *table) collectLiterals() {
	for _, e := range t.rules {
		for _, k := range e.Keywords {
			t.literals = append(t.literals, strings.ToLower(k))
		}
		for _, s := range e.allStarts() {
			t.literals = append(t.literals, s.literal)
		}
	}
	slices.Sort(t.literals)
	t.literals = slices.Compact(t.literals)
}

func (e entry) allStarts() []startEntry {
	all := slices.Clone(e.starts)
	for _, alternative := range e.either {
		all = append(all, alternative.allStarts()...)
	}
	if e.then != nil {
		all = append(all, e.then.starts...)
	}
	return all
}

func (t *table) literal(s string) int {
	i, ok := slices.BinarySearch(t.literals, strings.ToLower(s))
	if !ok {
		panic("literal " + s)
	}
	return i
}
