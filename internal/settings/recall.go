package settings

import (
	"encoding/json"
	"strconv"
)

// Choice is whether something is done automatically: always, never, or after a question.
type Choice string

// The choices as written in a file: true and false are booleans there.
const (
	Always Choice = "true"
	Never  Choice = "false"
	Prompt Choice = "prompt"
)

// Value returns the JSON form of the choice: true, false or "prompt".
func (c Choice) Value() any {
	if c == Prompt {
		return string(c)
	}
	return c == Always
}

// The modes of a saved context.
const (
	Stateful    = "stateful"
	SummaryOnly = "summary"
)

// The times at which the brief of a saved context is injected.
const (
	InjectStart  = "start"  // in full at the start of a session
	InjectPrompt = "prompt" // in short form at the start, in full with the first prompt if that continues the work
	InjectOff    = "off"    // never
)

// Recall holds the settings of saved contexts: the keys below "recall".
type Recall struct {
	OnClear Choice // auto_checkpoint_on_clear
	OnStart Choice // auto_resume_on_start
	Inject  string // inject: InjectStart, InjectPrompt or InjectOff
	AtUse   bool   // at_use: whether a line is given at a tool call
	// Threshold is the maximum fill level of the context in percent, ThresholdTokens in tokens; 0
	// means no such limit.
	Threshold         int    // checkpoint_threshold_percent, 70 to 95
	ThresholdTokens   int64  // checkpoint_threshold_tokens
	VerifyBeforeClear bool   // verify_before_clear
	Auto              bool   // auto_summary_enabled: false saves only on request
	MaxAuto           int    // max_auto_summaries
	CleanupAfterDays  int    // cleanup_after_days
	Mode              string // mode: Stateful or SummaryOnly
	CaptureFiles      bool   // capture_files
	CaptureAnalysis   bool   // capture_analysis
	// MaxCheckpoint and MaxFile are in bytes.
	MaxCheckpoint, MaxFile int64    // max_checkpoint_size, max_file_size
	Exclude                []string // exclude_patterns
	// ModelPass reports whether the user's own claude may improve a checkpoint's analysis, at the
	// user's cost. Only the user's own layers can set it.
	ModelPass bool // model_pass
}

func recallDefaults() Recall {
	const kib = 1 << 10
	return Recall{
		OnClear: Prompt, OnStart: Always, Inject: InjectPrompt, AtUse: true, Threshold: 70, VerifyBeforeClear: true,
		Auto: true, MaxAuto: 10, CleanupAfterDays: 30,
		Mode: Stateful, CaptureFiles: true, CaptureAnalysis: true,
		MaxCheckpoint: 10 * kib * kib, MaxFile: kib * kib,
		Exclude: []string{"node_modules/**", "*.log", "*.bin"},
	}
}

// Keys of saved contexts that other packages use.
const (
	KeyOnClear   = "recall.auto_checkpoint_on_clear"
	KeyOnStart   = "recall.auto_resume_on_start"
	KeyInject    = "recall.inject"
	KeyThreshold = "recall.checkpoint_threshold_percent"
	KeyVerify    = "recall.verify_before_clear"
	KeyModelPass = "recall.model_pass"
)

// The blocks of contextd's file.
const (
	hooksBlock      = "hooks."
	checkpointBlock = "checkpoint."
)

const recallGroup = "recall."

// recallFields returns the keys below "recall". Those that contextd has, too, can also be set by
// their names in its file and by its variables; of several variables the last one takes precedence,
// and Variable over all.
func recallFields() []field {
	return []field{
		choice(KeyOnClear, func(s *Settings) *Choice { return &s.Recall.OnClear }).
			also(hooksBlock, "CONTEXTD_AUTO_CHECKPOINT_ON_CLEAR", "ENTIRE_AUTO_CHECKPOINT_ON_CLEAR"),
		choice(KeyOnStart, func(s *Settings) *Choice { return &s.Recall.OnStart }).
			also(hooksBlock, "CONTEXTD_AUTO_RESUME", "CONTEXTD_AUTO_RESUME_ON_START", "ENTIRE_AUTO_RESUME", "ENTIRE_AUTO_RESUME_ON_START"),
		{
			key: KeyInject, allowed: `"start", "prompt" or "off"`,
			set: func(s *Settings, r raw) bool {
				return choose(&s.Recall.Inject, r, InjectStart, InjectPrompt, InjectOff)
			},
			get: func(s *Settings) any { return s.Recall.Inject },
		},
		boolean("recall.at_use", func(s *Settings) *bool { return &s.Recall.AtUse }),
		number(KeyThreshold, span{least: 70, most: 95}, func(s *Settings) *int { return &s.Recall.Threshold }).
			also(hooksBlock, "CONTEXTD_CHECKPOINT_THRESHOLD", "ENTIRE_CHECKPOINT_THRESHOLD"),
		tokens("recall.checkpoint_threshold_tokens", func(s *Settings) *int64 { return &s.Recall.ThresholdTokens }),
		boolean(KeyVerify, func(s *Settings) *bool { return &s.Recall.VerifyBeforeClear }).
			also(hooksBlock, "CONTEXTD_VERIFY_BEFORE_CLEAR", "ENTIRE_VERIFY_BEFORE_CLEAR"),
		boolean("recall.auto_summary_enabled", func(s *Settings) *bool { return &s.Recall.Auto }).also(checkpointBlock),
		number("recall.max_auto_summaries", span{least: 1, most: 1000}, func(s *Settings) *int { return &s.Recall.MaxAuto }).also(checkpointBlock),
		number("recall.cleanup_after_days", span{least: 1, most: 3650}, func(s *Settings) *int { return &s.Recall.CleanupAfterDays }).also(checkpointBlock),
		field{
			key: "recall.mode", allowed: `"stateful" or "summary"`,
			set: func(s *Settings, r raw) bool { return choose(&s.Recall.Mode, r, Stateful, SummaryOnly) },
			get: func(s *Settings) any { return s.Recall.Mode },
		}.also(checkpointBlock, "CONTEXTD_CHECKPOINT_MODE", "ENTIRE_CHECKPOINT_MODE"),
		boolean("recall.capture_files", func(s *Settings) *bool { return &s.Recall.CaptureFiles }).also(checkpointBlock),
		boolean("recall.capture_analysis", func(s *Settings) *bool { return &s.Recall.CaptureAnalysis }).also(checkpointBlock),
		amount("recall.max_checkpoint_size", func(s *Settings) *int64 { return &s.Recall.MaxCheckpoint }).
			also(checkpointBlock, "CONTEXTD_CHECKPOINT_MAX_SIZE", "ENTIRE_CHECKPOINT_MAX_SIZE"),
		amount("recall.max_file_size", func(s *Settings) *int64 { return &s.Recall.MaxFile }).also(checkpointBlock),
		patterns("recall.exclude_patterns", func(s *Settings) *[]string { return &s.Recall.Exclude }).also(checkpointBlock),
		boolean(KeyModelPass, func(s *Settings) *bool { return &s.Recall.ModelPass }),
	}
}

// also sets the block of contextd's file that has the key, and other variables that set it.
func (f field) also(block string, variables ...string) field {
	f.block, f.variables = block, variables
	return f
}

// span is the range of a number, inclusive; orNone adds 0.
type span struct {
	least, most int64
	orNone      bool
}

func (s span) String() string {
	return strconv.FormatInt(s.least, 10) + " to " + strconv.FormatInt(s.most, 10)
}

func choice(key string, at func(*Settings) *Choice) field {
	return field{
		key: key, allowed: `true, false or "prompt"`,
		set: func(s *Settings, r raw) bool {
			to := at(s)
			if r.kind <= kindString && r.text == string(Prompt) {
				*to = Prompt
				return true
			}
			var yes bool
			if !setBool(&yes, r) {
				return false
			}
			*to = Never
			if yes {
				*to = Always
			}
			return true
		},
		get: func(s *Settings) any { return at(s).Value() },
	}
}

func number(key string, in span, at func(*Settings) *int) field {
	return whole(key, "a whole number from "+in.String(), in, raw.number, at)
}

// whole returns a field for a number in a range, which parse returns.
func whole[T int | int64](key, allowed string, in span, parse func(raw) (int64, bool), at func(*Settings) *T) field {
	return field{
		key: key, allowed: allowed,
		set: func(s *Settings, r raw) bool {
			n, ok := parse(r)
			if ok = ok && (n >= in.least && n <= in.most || n == 0 && in.orNone); ok {
				*at(s) = T(n)
			}
			return ok
		},
		get: func(s *Settings) any { return *at(s) },
	}
}

// tokens returns a field for a number of tokens, 0 for none.
func tokens(key string, at func(*Settings) *int64) field {
	in := span{1000, 10_000_000, true}
	return whole(key, "0 for none, or a whole number from "+in.String(), in, raw.number, at)
}

// amount returns a field for a number of bytes, given as a number or as a size.
func amount(key string, at func(*Settings) *int64) field {
	in := span{least: 1 << 10, most: 1 << 30}
	f := whole(key, "bytes from "+in.String()+`, or a size like "10MiB"`, in, func(r raw) (int64, bool) {
		n, ok := r.number()
		if ok || r.kind > kindString {
			return n, ok
		}
		n, err := ParseSize(r.text)
		return n, err == nil
	}, at)
	f.get = func(s *Settings) any { return formatSize(*at(s)) }
	return f
}

// number parses a whole number from a variable or from JSON.
func (r raw) number() (int64, bool) {
	if r.kind != kindOther && r.kind != kindText {
		return 0, false
	}
	n, err := strconv.ParseInt(r.text, 10, 64)
	return n, err == nil
}

// rawOf converts a value of a key, from a field's get or a Change, to raw.
func rawOf(value any) (raw, bool) {
	switch v := value.(type) {
	case bool:
		return raw{kindBool, strconv.FormatBool(v)}, true
	case string:
		return raw{kindString, v}, true
	case Choice:
		return rawOf(v.Value())
	case json.RawMessage:
		parsed, err := parseValue(v)
		if err != nil {
			return raw{}, false
		}
		return toRaw(parsed.Value), true
	case int, int64, []string:
		text, err := json.Marshal(v)
		return raw{kindOther, string(text)}, err == nil
	}
	return raw{}, false
}
