package redact

// plan describes how the matches of a rule are found. All plans give the matches
// that running the rule's expression over the whole text would give.
type plan uint8

const (
	// planFull runs the expression over the whole text.
	planFull plan = iota
	// planStart tries the expression, anchored, at each place where one of
	// the rule's starts fits: no match can begin elsewhere.
	planStart
	// planTail is for expressions that begin with a lazy run of word
	// characters, "[\w.-]{0,50}?": the rest of the expression is tried,
	// anchored, where one of its starts fits, and the run before is added.
	planTail
	// planEither is for an alternation of two expressions that have plans.
	planEither
)

// rule is one secret pattern of the generated table.
type rule struct {
	id       string
	expr     string // the pattern as gitleaks has it
	tail     string // planTail: the pattern without its leading run
	plan     plan
	boundary bool // planStart: the pattern begins with \b
	generic  bool // gives way to a finding of another rule on the same line
	known    bool // the pattern alone, without its surroundings, identifies a secret
	lead     int  // planTail: longest leading run in bytes
	reach    int  // longest match of the anchored pattern in bytes, 0 for no limit
	group    int  // the group that is the secret, 0 for the first that is not empty
	entropy  float64
	keywords []uint16 // literals; one of them must be in the text
	starts   []start
	follow   *follow
	then     *then
	either   []rule  // planEither: the alternatives, expressions and plans only
	allow    []uint8 // allowlists besides the global one
}

// start is one way in which a match can begin.
type start struct {
	lit     uint16 // a literal the match holds
	off     uint8  // how far into the match the literal is
	classes string // byte class for each of the first bytes of a match
}

// follow is what must come after an identifier for the rest to match: bytes of
// a gap, an operator, bytes of a filling, and the secret. It holds for more
// texts than the expression matches, and it is cheap to test.
type follow struct {
	gap, oper, fill, secret uint8 // byte classes
	body                    uint8 // fill or secret
	maxGap, maxFill         int
	minSecret               int
}

// then is the end of a pattern whose middle can be anything: unless it matches
// somewhere behind the place where a match may begin, none begins there.
type then struct {
	expr   string
	starts []start
	breaks int // line breaks that can be before it in a match, -1 for no limit
}

// allowlist holds the findings that are no secrets.
type allowlist struct {
	expr      string // all its expressions joined
	target    target
	needs     []string // one of these is in every match of expr; empty if not known
	stopwords []string // sorted, lower case, none of them part of another
}

// target describes what an allowlist's expression is tried on.
type target uint8

const (
	targetSecret target = iota
	targetMatch
	targetLine
)

// byteClass is a set of bytes.
type byteClass [4]uint64

func (c *byteClass) has(b byte) bool { return c[b>>6]>>(b&63)&1 != 0 }
