package settings

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
		OnClear: Prompt, OnStart: Always, Inject: InjectPrompt, Threshold: 70, VerifyBeforeClear: true,
		Auto: true, MaxAuto: 10, CleanupAfterDays: 30,
		Mode: Stateful, CaptureFiles: true, CaptureAnalysis: true,
		MaxCheckpoint: 10 * kib * kib, MaxFile: kib * kib,
		Exclude: []string{"node_modules/**", "*.log", "*.bin"},
	}
}
