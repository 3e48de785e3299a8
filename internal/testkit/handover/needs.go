package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// need is something that a session turned out to need, and that earlier sessions had.
type need struct {
	kind string
	text string
	why  string // where the session needed it
}

// The kinds of needs.
const (
	fileNeed     = "files"
	commandNeed  = "commands"
	decisionNeed = "decisions"
	openNeed     = "open items"
	ruleNeed     = "corrections and rules"
	numberNeed   = "numbers and links"
)

var needKinds = []string{fileNeed, commandNeed, decisionNeed, openNeed, ruleNeed, numberNeed} //nolint:gochecknoglobals // a read-only table

const (
	firstFiles = 10  // files that count as a session's first ones
	samePart   = 0.5 // of a statement's weight that a sentence has if it is about the same
	longPaste  = 1500
	longest    = 40 // words of a statement
	sometimes  = 5  // an identifier that more than a fifth of the sessions use is none of a topic
	fewest     = 4
)

// later is what the session B did.
type later struct {
	t        *transcript
	used     []string // its files
	text     string   // its conversation, inputs and results
	said     *pool    // the conversation, without the plan that it begins with
	person   *pool    // of it what the person wrote
	done     *pool    // the conversation, without that plan, and the inputs of tools
	planned  *pool    // that plan
	commands map[string]bool
	numbers  map[string]bool
}

func newLater(t *transcript) *later {
	b := &later{t: t, used: t.wanted(), commands: t.ran(), numbers: map[string]bool{}}
	var text strings.Builder
	var said, person, done, planned []unit
	for i, e := range t.events {
		switch e.kind {
		case toolCall:
			text.WriteString(e.call.inputs + "\n" + e.call.output + "\n")
			done = append(done, units(e.call.inputs)...)
			addNumbers(b.numbers, e.call.input.Command)
		case request, pick, denial:
			text.WriteString(e.text + "\n")
			addNumbers(b.numbers, e.text)
			list := units(e.text)
			if i == 0 && strings.HasPrefix(e.text, acceptedPlan) {
				planned = list
				continue
			}
			done, said, person = append(done, list...), append(said, list...), append(person, list...)
		case reply:
			text.WriteString(e.text + "\n")
			addNumbers(b.numbers, e.text)
			list := units(e.text)
			said, done = append(said, list...), append(done, list...)
		default:
		}
	}
	b.text, b.said, b.person, b.done = text.String(), newPool(said), newPool(person), newPool(done)
	b.planned = newPool(planned)
	return b
}

// touches reports whether the session used a file at any time, or its text names it.
func (b *later) touches(file string) bool {
	return slices.Contains(b.used, file) || names(b.text, file)
}

// needs returns what a session needed of the earlier ones.
func (l *lexicon) needs(p pair, b *later) []need {
	var list []need
	add := func(kind, text, why string) {
		key := letters(text)
		same := func(n need) bool {
			of := letters(n.text)
			isText := kind == decisionNeed || kind == openNeed || kind == ruleNeed
			return n.kind == kind && (of == key || isText && (strings.Contains(of, key) || strings.Contains(key, of)))
		}
		if !slices.ContainsFunc(list, same) {
			list = append(list, need{kind, text, why})
		}
	}
	known := p.known()
	for _, file := range b.used[:min(len(b.used), firstFiles)] {
		if known[file] {
			add(fileNeed, file, "used")
		}
	}
	had := map[string]bool{}
	for _, t := range p.earlier {
		for core := range t.ran() {
			if b.commands[core] {
				add(commandNeed, core, "run")
			}
		}
		t.addNumbers(had)
	}
	for n := range had {
		if b.numbers[n] {
			add(numberNeed, n, "used")
		}
	}
	for i, t := range slices.Backward(p.earlier) {
		l.stated(t, p.earlier[i+1:], b, add)
	}
	return list
}

// stated adds the needs among the statements of an earlier session, before others.
func (l *lexicon) stated(t *transcript, others []*transcript, b *later, add func(kind, text, why string)) {
	for _, u := range t.choices() {
		if said, part := l.find(b.done, u.words); part >= samePart {
			add(decisionNeed, u.text, said.text)
		}
	}
	for _, u := range t.rules() {
		if why := l.applies(u, b); why != "" {
			add(ruleNeed, u.text, why)
		}
	}
	for _, u := range t.open() {
		if said, part := l.find(b.said, u.words); part >= samePart && !l.settled(u, others) {
			add(openNeed, u.text, said.text)
		}
	}
	for core, c := range t.failing() {
		if b.commands[core] && !passedIn(core, others) {
			add(openNeed, failingMark+core, "run again, after "+firstLine(c.output))
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// failingMark begins an open item that is a failing check.
const failingMark = "fails: "

// known returns the files of the earlier sessions.
func (p pair) known() map[string]bool {
	all := map[string]bool{}
	for _, t := range p.earlier {
		known, _ := t.known()
		for file := range known {
			all[file] = true
		}
	}
	return all
}

// settled reports whether a later session worked on an open item.
func (l *lexicon) settled(u unit, later []*transcript) bool {
	for _, t := range later {
		var list []unit
		for _, e := range t.events {
			if e.kind == request || e.kind == reply {
				list = append(list, units(e.text)...)
			}
		}
		if _, part := l.find(newPool(list), u.words); part >= samePart {
			return true
		}
	}
	return false
}

func passedIn(core string, later []*transcript) bool {
	for _, t := range later {
		for _, e := range t.events {
			if e.kind == toolCall && e.call.outcome() == passed && slices.Contains(e.call.cores(), core) {
				return true
			}
		}
	}
	return false
}

// checks are the programs whose commands test, build, check or run something; their first words
// that are names make up the core of a command.
var checks = regexp.MustCompile(`^(?:go (?:test|build|vet|run|generate|mod)|(?:npm|pnpm|yarn|bun|deno|npx|bunx|mise|make|just|task|cargo|pytest|python3?|node|ruby|bundle|rake|mvn|gradle|\./gradlew|docker|docker-compose|golangci-lint|gofmt|gofumpt|eslint|tsc|vitest|jest|shellcheck|ruff|mypy|uv|poetry)\b|gh (?:pr|run|issue|api)|\./)`)

var plainWord = regexp.MustCompile(`^[A-Za-z][\w:-]*$`)

const coreWords = 3

// cores returns the cores of a call's commands: "go test", "bun run test".
func (c *call) cores() []string {
	if c.name != "Bash" {
		return nil
	}
	var list []string
	for _, line := range simple(c.input.Command) {
		if core := coreOf(line); core != "" && !slices.Contains(list, core) {
			list = append(list, core)
		}
	}
	return list
}

func coreOf(line string) string {
	if !checks.MatchString(line) {
		return ""
	}
	words := strings.Fields(line)
	n := 0
	for n < len(words) && n < coreWords && (plainWord.MatchString(words[n]) || n == 0) {
		n++
	}
	return strings.Join(words[:n], " ")
}

// wordsOfPerson returns the sentences that the person typed; long pasted texts and plans are left
// out.
func (t *transcript) wordsOfPerson() []unit {
	var list []unit
	for _, e := range t.events {
		text := e.text
		if e.kind == denial {
			_, text, _ = strings.Cut(text, "the user said:")
		}
		if (e.kind == request || e.kind == denial) && !strings.HasPrefix(text, acceptedPlan) && len(text) < longPaste {
			list = append(list, units(text)...)
		}
	}
	return list
}

var (
	choice = regexp.MustCompile(`(?i)\b(?:instead of|rather than|let'?s (?:go with|use|keep|drop|stick|not)|go(?:ing)? with|went with|decided|chose|chosen|opt(?:ed|ing)? for|prefer(?:red)?|stick(?:ing)? (?:to|with)|switch(?:ed|ing)? to|no longer|keep(?:ing)? (?:the|it|this|that|both|as)|drop(?:ped|ping)? (?:the|it|this|support)|won'?t (?:use|support|need)|should(?:n'?t| not| only) |not (?:use|add|support|store|change)|only (?:use|store|show|when|if))\b`)
	asks   = regexp.MustCompile(`\?\s*$|(?i)^(?:can|could|would|should|do|does|is|are|what|why|how|which|where|when) `)
	obey   = regexp.MustCompile(`(?i)\b(?:always|never|don'?t|do not|must(?:n'?t)?|make sure|ensure|should(?:n'?t)? (?:not|always|never|be|use|have)|no need|only use|use .+ (?:instead|not)|not .+ but|prefer|from now on|remember to|avoid|stop (?:using|doing|adding)|i (?:said|told|meant|wanted)|that'?s (?:wrong|not)|revert)\b`)
	forAll = regexp.MustCompile(`(?i)^(?:please |and |also |so |but |no,? |btw,? )*(?:always|never|from now on|every time|don'?t ever|in general|remember to)\b|\b(?:should|must|you|we|to|please) (?:always|never)\b`)
	ahead  = regexp.MustCompile(`(?i)\b(?:next steps?|todo|remaining|still (?:need|to|have|missing|fails?)|not yet|follow[- ]?ups?|left to do|want me to|should i|shall i|would you like|i can also|pending|blocked|later|you(?:'ll| will)? (?:may |might )?(?:need|want) to|let me know)\b`)
)

func ofLength(u unit) bool { return len(u.words) >= fewest && len(u.words) <= longest }

// choices returns the sentences of the session that state a choice.
func (t *transcript) choices() []unit {
	list := t.wordsOfPerson()
	for _, e := range t.events {
		switch {
		case e.kind == reply:
			list = append(list, units(e.text)...)
		case e.kind == toolCall && e.call.name == "ExitPlanMode" && !e.call.refused:
			list = append(list, units(e.call.input.Plan)...)
		}
	}
	list = slices.DeleteFunc(list, func(u unit) bool { return !ofLength(u) || !choice.MatchString(u.text) || asks.MatchString(u.text) })
	for _, e := range t.events {
		if e.kind == pick {
			for _, m := range picked.FindAllStringSubmatch(e.call.output, -1) {
				list = append(list, unit{m[1] + " " + m[2], setOf(contentWords(m[1] + " " + m[2]))})
			}
		}
	}
	return list
}

// picked matches a question of the agent and the person's reply.
var picked = regexp.MustCompile(`"([^"]+)"="([^"]+)"`)

// rules returns the person's corrections and rules.
func (t *transcript) rules() []unit {
	return slices.DeleteFunc(t.wordsOfPerson(), func(u unit) bool {
		return len(u.words) < leastShared || len(u.words) > longest || !obey.MatchString(u.text) || asks.MatchString(u.text) || strings.HasSuffix(u.text, ":")
	})
}

// applies returns why a rule applies to a session: it is general, the person says it again, or a
// file, command or identifier of it is used.
func (l *lexicon) applies(u unit, b *later) string {
	if forAll.MatchString(u.text) {
		return "general"
	}
	if said, part := l.find(b.person, u.words); part >= samePart {
		return "again: " + said.text
	}
	for _, file := range b.used {
		base := filepath.Base(file)
		if names(u.text, base) {
			return "file " + file
		}
	}
	for core := range b.commands {
		if strings.Contains(core, " ") && strings.Contains(strings.ToLower(u.text), core) {
			return "command " + core
		}
	}
	for _, id := range identifier.FindAllString(u.text, -1) {
		if l.counts[stem(strings.ToLower(id))] <= l.sessions/sometimes && names(b.text, id) {
			return "identifier " + id
		}
	}
	return ""
}

var identifier = regexp.MustCompile(`\b(?:[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+|[a-z0-9]+_[a-z0-9_]+|[A-Z][A-Z0-9]+_[A-Z0-9_]+)\b`)

// open returns the items of the session's list that are not completed, and the steps that the
// agent's last words announce.
func (t *transcript) open() []unit {
	var list []unit
	for _, item := range t.todos {
		if item.status != "completed" && item.status != "deleted" {
			list = append(list, units(item.text)...)
		}
	}
	for _, e := range slices.Backward(t.events) {
		if e.kind == request {
			break
		}
		if e.kind != reply {
			continue
		}
		// The sentences after an announcement are its items.
		follows := false
		for _, u := range units(e.text) {
			if ahead.MatchString(u.text) {
				follows = true
			}
			if follows && len(u.words) >= leastShared && len(u.words) <= longest {
				list = append(list, u)
			}
		}
		break
	}
	return list
}

// ran returns the cores of the session's commands.
func (t *transcript) ran() map[string]bool {
	ran := map[string]bool{}
	for _, e := range t.events {
		if e.kind == toolCall {
			for _, core := range e.call.cores() {
				ran[core] = true
			}
		}
	}
	return ran
}

// failing returns the checks whose last run failed.
func (t *transcript) failing() map[string]*call {
	last := map[string]*call{}
	for _, e := range t.events {
		if e.kind == toolCall && e.call.outcome() != unclear {
			for _, core := range e.call.cores() {
				last[core] = e.call
			}
		}
	}
	for core, c := range last {
		if c.outcome() != failed {
			delete(last, core)
		}
	}
	return last
}

var (
	numbered = regexp.MustCompile(`(?i)(?:/pull/|/pulls/|/issues/|\bPR[ #]+|\bpull requests? #?|\bissue #?|\bgh (?:pr|issue) \w+ |(?:^|[\s(\[])#)(\d{1,6})\b`)
	linked   = regexp.MustCompile(`https?://[^\s"'<>)\]}\x60,\\]+`)
	ticket   = regexp.MustCompile(`\b[A-Z]{2,6}-\d{1,5}\b`)
)

// addNumbers adds the numbers of pull requests, issues and tickets, and the links of a text.
func addNumbers(set map[string]bool, text string) {
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		set["#"+m[1]] = true
	}
	for _, m := range linked.FindAllString(text, -1) {
		if m = strings.TrimRight(m, ".:;*/"); !numbered.MatchString(m) {
			set[m] = true
		}
	}
	for _, m := range ticket.FindAllString(text, -1) {
		set[m] = true
	}
}

// addNumbers adds the numbers and links of the session's conversation and commands.
func (t *transcript) addNumbers(set map[string]bool) {
	for _, e := range t.events {
		switch e.kind {
		case toolCall:
			addNumbers(set, e.call.input.Command)
		case request, reply, pick:
			addNumbers(set, e.text)
		default:
		}
	}
}
