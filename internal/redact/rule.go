package redact

// plan is the way to find the matches of a rule. All plans return the same matches as
// running the rule's expression over the whole text.
type plan uint8

const (
	// planFull runs the expression over the whole text.
	planFull plan = iota
	// planStart tries the expression, anchored, at each position where one of the rule's
	// starts fits. No match can begin elsewhere.
	planStart
	// planTail is for expressions that begin with a lazy run of word characters,
	// "[\w.-]{0,50}?": the rest of the expression is tried, anchored, where one of its
	// starts fits, and the preceding run is added.
	planTail
	// planEither is for an alternation of two expressions that have plans.
	planEither
)

// rule is one secret pattern of the generated table.
type rule struct {
	id       string
	expr     string // gitleaks' pattern
	tail     string // planTail: the pattern without its leading run
	plan     plan
	boundary bool // planStart: the pattern begins with \b
	generic  bool // another rule's finding on the same line takes precedence
	known    bool // the pattern identifies a secret without its surroundings
	lead     int  // planTail: longest leading run in bytes
	reach    int  // longest match of the anchored pattern in bytes, 0 for no limit
	group    int  // the group with the secret, 0 for the first non-empty one
	entropy  float64
	keywords []uint16 // literals; one of them must be in the text
	starts   []start
	follow   *follow
	then     *then
	either   []rule  // planEither: the alternatives, expressions and plans only
	allow    []uint8 // allowlists besides the global one
}

// start is one form of the beginning of a match.
type start struct {
	lit     uint16 // a literal in the match
	off     uint8  // offset of the literal in the match
	classes string // byte class for each of the first bytes of a match
}

// follow describes the required text after an identifier: bytes of a gap, an operator,
// bytes of a filling, and the secret. It is a necessary condition for a match and cheap to
// test.
type follow struct {
	gap, oper, fill, secret uint8 // byte classes
	body                    uint8 // fill or secret
	maxGap, maxFill         int
	minSecret               int
}

// then is the end of a pattern with an arbitrary middle. A match can begin only at a
// position with a match of then after it.
type then struct {
	expr   string
	starts []start
	breaks int // maximum line breaks before it in a match, -1 for no limit
}

// allowlist describes findings that are not secrets.
type allowlist struct {
	expr      string // all its expressions joined
	target    target
	needs     []string // every match of expr contains one of these; empty if unknown
	stopwords []string // sorted, lower case, none of them part of another
}

// target is the text that an allowlist's expression is matched against.
type target uint8

const (
	targetSecret target = iota
	targetMatch
	targetLine
)

// byteClass is a set of bytes.
type byteClass [4]uint64

func (c *byteClass) has(b byte) bool { return c[b>>6]>>(b&63)&1 != 0 }
