package settings

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// The keys of context checkpoints that other packages name.
const (
	KeyOnClear   = "recall.auto_checkpoint_on_clear"
	KeyOnStart   = "recall.auto_resume_on_start"
	KeyThreshold = "recall.checkpoint_threshold_percent"
	KeyVerify    = "recall.verify_before_clear"
	KeyModelPass = "recall.model_pass"
)

// The blocks of contextd's file.
const (
	hooksBlock      = "hooks."
	checkpointBlock = "checkpoint."
)

// recallFields are the keys below "recall". Those that contextd has go by
// their names in its file and by its variables, too; of several variables the
// last wins, and Variable before all.
func recallFields() []field {
	const variable, theirs = "ENTIRE_", "CONTEXTD_"
	hook := func(f field, variables ...string) field { return f.alias(hooksBlock, variables) }
	checkpoint := func(f field, variables ...string) field { return f.alias(checkpointBlock, variables) }
	both := func(name string) []string { return []string{theirs + name, variable + name} }
	return []field{
		hook(choice(KeyOnClear, func(s *Settings) *Choice { return &s.Recall.OnClear }), both("AUTO_CHECKPOINT_ON_CLEAR")...),
		hook(
			choice(KeyOnStart, func(s *Settings) *Choice { return &s.Recall.OnStart }),
			theirs+"AUTO_RESUME", theirs+"AUTO_RESUME_ON_START", variable+"AUTO_RESUME", variable+"AUTO_RESUME_ON_START",
		),
		hook(percent(KeyThreshold, func(s *Settings) *int { return &s.Recall.Threshold }), both("CHECKPOINT_THRESHOLD")...),
		tokens("recall.checkpoint_threshold_tokens", func(s *Settings) *int64 { return &s.Recall.ThresholdTokens }),
		hook(boolean(KeyVerify, func(s *Settings) *bool { return &s.Recall.VerifyBeforeClear }), both("VERIFY_BEFORE_CLEAR")...),
		checkpoint(boolean("recall.auto_summary_enabled", func(s *Settings) *bool { return &s.Recall.Auto })),
		checkpoint(number("recall.max_auto_summaries", span{1, 1000}, func(s *Settings) *int { return &s.Recall.MaxAuto })),
		checkpoint(number("recall.cleanup_after_days", span{1, 3650}, func(s *Settings) *int { return &s.Recall.CleanupAfterDays })),
		checkpoint(field{
			key: "recall.mode", allowed: strconv.Quote(Stateful) + " or " + strconv.Quote(SummaryOnly),
			set: func(s *Settings, r raw) bool { return choose(&s.Recall.Mode, r, Stateful, SummaryOnly) },
			get: func(s *Settings) any { return s.Recall.Mode },
		}, both("CHECKPOINT_MODE")...),
		checkpoint(boolean("recall.capture_files", func(s *Settings) *bool { return &s.Recall.CaptureFiles })),
		checkpoint(boolean("recall.capture_analysis", func(s *Settings) *bool { return &s.Recall.CaptureAnalysis })),
		checkpoint(amount("recall.max_checkpoint_size", func(s *Settings) *int64 { return &s.Recall.MaxCheckpoint }), both("CHECKPOINT_MAX_SIZE")...),
		checkpoint(amount("recall.max_file_size", func(s *Settings) *int64 { return &s.Recall.MaxFile })),
		checkpoint(patterns("recall.exclude_patterns", func(s *Settings) *[]string { return &s.Recall.Exclude })),
		ownBoolean(KeyModelPass, func(s *Settings) *bool { return &s.Recall.ModelPass }),
	}
}

// alias names the key in contextd's file, and other variables.
func (f field) alias(block string, variables []string) field {
	f.contextd = block + f.key[len(recallGroup):]
	f.variables = variables
	return f
}

const recallGroup = "recall."

// span is what a number may be, the ends included.
type span struct{ least, most int64 }

func choice(key string, at func(*Settings) *Choice) field {
	return field{
		key: key, allowed: `true, false or "prompt"`,
		set: func(s *Settings, r raw) bool { return setChoice(at(s), r) },
		get: func(s *Settings) any { return at(s).Value() },
	}
}

func percent(key string, at func(*Settings) *int) field { return number(key, span{70, 95}, at) }

func number(key string, in span, at func(*Settings) *int) field {
	return field{
		key: key, allowed: fmt.Sprintf("a whole number from %d to %d", in.least, in.most),
		set: func(s *Settings, r raw) bool {
			n, ok := r.number()
			if !ok || n < in.least || n > in.most {
				return false
			}
			*at(s) = int(n)
			return true
		},
		get: func(s *Settings) any { return *at(s) },
	}
}

// tokens is a number of them, 0 for none.
func tokens(key string, at func(*Settings) *int64) field {
	in := span{1000, 10_000_000}
	return field{
		key: key, allowed: fmt.Sprintf("0 for none, or a whole number from %d to %d", in.least, in.most),
		set: func(s *Settings, r raw) bool {
			n, ok := r.number()
			if !ok || (n != 0 && n < in.least) || n > in.most {
				return false
			}
			*at(s) = n
			return true
		},
		get: func(s *Settings) any { return *at(s) },
	}
}

// amount is a number of bytes, as a number or as a size.
func amount(key string, at func(*Settings) *int64) field {
	in := span{1 << 10, 1 << 30}
	return field{
		key: key, allowed: fmt.Sprintf(`bytes from %d to %d, or a size like "10MiB"`, in.least, in.most),
		set: func(s *Settings, r raw) bool {
			n, ok := r.number()
			if !ok && r.kind <= kindString {
				var err error
				n, err = ParseSize(r.text)
				ok = err == nil
			}
			if !ok || n < in.least || n > in.most {
				return false
			}
			*at(s) = n
			return true
		},
		get: func(s *Settings) any { return FormatSize(*at(s)) },
	}
}

func setChoice(to *Choice, r raw) bool {
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
}

// number is a whole number from a variable or from JSON.
func (r raw) number() (int64, bool) {
	if r.kind != kindOther && r.kind != kindText {
		return 0, false
	}
	n, err := strconv.ParseInt(r.text, 10, 64)
	return n, err == nil
}

// rawOf is a value of a key as raw: what a field's get answers, or what a
// Change holds.
func rawOf(value any) (raw, bool) {
	switch v := value.(type) {
	case bool:
		return raw{kindBool, strconv.FormatBool(v)}, true
	case string:
		return raw{kindString, v}, true
	case Choice:
		return rawOf(v.Value())
	case json.RawMessage:
		return rawJSON(v)
	case int, int64, []string:
		text, err := json.Marshal(v)
		return raw{kindOther, string(text)}, err == nil
	}
	return raw{}, false
}

func rawJSON(text []byte) (raw, bool) {
	v, err := parseValue(text)
	if err != nil {
		return raw{}, false
	}
	return toRaw(v.Value), true
}

// json is the value as it stands in a file.
func (r raw) json() json.RawMessage {
	if r.kind == kindString {
		text, err := json.Marshal(r.text)
		if err != nil {
			return nil
		}
		return text
	}
	return json.RawMessage(r.text)
}
