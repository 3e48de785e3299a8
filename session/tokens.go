package session

// Tokens counts tokens as the API reports them.
type Tokens struct {
	Input         int64   `json:"input_tokens"`
	CacheCreation int64   `json:"cache_creation_tokens"`
	CacheRead     int64   `json:"cache_read_tokens"`
	Output        int64   `json:"output_tokens"`
	Calls         int64   `json:"api_call_count"`
	Subagents     *Tokens `json:"subagent_tokens,omitempty"`
}

// Plus returns the sum of two counts; the counts of subagents are added separately.
func (t Tokens) Plus(o Tokens) Tokens {
	t.Input += o.Input
	t.CacheCreation += o.CacheCreation
	t.CacheRead += o.CacheRead
	t.Output += o.Output
	t.Calls += o.Calls
	t.Subagents = sum(t.Subagents, o.Subagents)
	return t
}

// Minus returns t less o.
func (t Tokens) Minus(o Tokens) Tokens {
	return t.Plus(o.negated())
}

func (t Tokens) negated() Tokens {
	n := Tokens{Input: -t.Input, CacheCreation: -t.CacheCreation, CacheRead: -t.CacheRead, Output: -t.Output, Calls: -t.Calls}
	if t.Subagents != nil {
		below := t.Subagents.negated()
		n.Subagents = &below
	}
	return n
}

// sum returns the sum of two counts of subagents, nil if it is zero.
func sum(a, b *Tokens) *Tokens {
	var total Tokens
	for _, t := range []*Tokens{a, b} {
		if t != nil {
			total = total.Plus(*t)
		}
	}
	if total == (Tokens{}) {
		return nil
	}
	return &total
}
