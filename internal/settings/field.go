package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Keys that other packages use.
const (
	KeyEnabled      = "enabled"
	KeyStrategy     = "strategy"
	KeyPushRemote   = "strategy_options.push_remote"
	KeyPushSessions = "strategy_options.push_sessions"
	KeyPrimary      = "checkpoints.primary.type"
	KeySummarize    = "strategy_options.summarize.enabled"
	KeyBands        = "bands.enabled"
	KeyCap          = "bands.cap"
	KeyFreeFloor    = "bands.free_floor"
)

// The range of the two timeouts.
const (
	minTimeout = 10 * time.Millisecond
	maxTimeout = 10 * time.Minute
)

// raw is a value in the form of a file or a variable.
type raw struct {
	kind kind
	text string // a string's content, else the JSON text
}

type kind byte

const (
	kindText   kind = iota // from a variable: may be of any type
	kindString             // the following come from JSON
	kindBool
	kindOther
)

// quoted returns the value as a Problem shows it, truncated to one line.
func (r raw) quoted() string {
	const limit = 60
	text := r.text
	if r.kind == kindString || r.kind == kindText {
		text = strconv.Quote(text)
	}
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "..."
	}
	return text
}

// field is one key: its names, allowed values and accessors.
type field struct {
	key     string
	allowed string
	block   string // in contextd's file, empty if the key isn't there
	// variables are variables other than Variable; the last one takes precedence.
	variables []string
	userOnly  bool // it exists only in the user's file
	set       func(*Settings, raw) bool
	get       func(*Settings) any
	scope     scope
}

// fields returns every key that this version supports, in the order of listings.
func fields() []field {
	all := append([]field{
		boolean(KeyEnabled, func(s *Settings) *bool { return &s.Enabled }),
		{
			key: KeyStrategy, allowed: strconv.Quote(ManualCommit) + " or " + strconv.Quote(AutoCommit),
			set: func(s *Settings, r raw) bool { return choose(&s.Strategy, r, ManualCommit, AutoCommit) },
			get: func(s *Settings) any { return s.Strategy },
		},
		{
			key: "log_level", allowed: `"debug", "info", "warn" or "error"`,
			set: func(s *Settings, r raw) bool {
				levels := map[string]slog.Level{
					"debug": slog.LevelDebug, "info": slog.LevelInfo,
					"warn": slog.LevelWarn, "warning": slog.LevelWarn, "error": slog.LevelError,
				}
				level, known := levels[strings.ToLower(r.text)]
				if r.kind > kindString || !known {
					return false
				}
				s.LogLevel = level
				return true
			},
			get: func(s *Settings) any { return strings.ToLower(s.LogLevel.String()) },
		},
		boolean("local_dev", func(s *Settings) *bool { return &s.LocalDev }),
		boolean("telemetry", func(s *Settings) *bool { return &s.Telemetry }),
		boolean(KeyPushSessions, func(s *Settings) *bool { return &s.PushSessions }),
		{
			key: KeyPushRemote, allowed: "the name or the URL of a remote",
			set: func(s *Settings, r raw) bool {
				// Git must not parse it as an option; an empty one names no remote.
				if r.kind > kindString || strings.HasPrefix(r.text, "-") || strings.ContainsFunc(r.text, unicode.IsControl) {
					return false
				}
				s.PushRemote = r.text
				return true
			},
			get: func(s *Settings) any { return s.PushRemote },
		},
		{
			key: "strategy_options.checkpoint_push_remote", allowed: "the name of a remote",
			set: func(s *Settings, r raw) bool {
				if r.kind > kindString || strings.HasPrefix(r.text, "-") || strings.ContainsFunc(r.text, unicode.IsControl) {
					return false
				}
				s.ReadRemote = r.text
				return true
			},
			get: func(s *Settings) any { return s.ReadRemote },
		},
		{
			key: KeyPrimary, allowed: strconv.Quote(GitBranch) + " or " + strconv.Quote(GitRefs), variables: []string{"ENTIRE_CHECKPOINTS_PRIMARY"},
			set: func(s *Settings, r raw) bool { return choose(&s.Primary, r, GitBranch, GitRefs) },
			get: func(s *Settings) any { return s.Primary },
		},
		mirrors(func(s *Settings) *[]string { return &s.Mirrors }),
		boolean(KeySummarize, func(s *Settings) *bool { return &s.Summarize }),
		{
			key: "commit_linking", allowed: `"always" or "prompt"`,
			set: func(s *Settings, r raw) bool { return choose(&s.CommitLinking, r, LinkAlways, LinkPrompt) },
			get: func(s *Settings) any { return string(s.CommitLinking) },
		},
		boolean("gemini.amend_commits", func(s *Settings) *bool { return &s.AmendCommits }),
		timeout("hooks.timeout", func(s *Settings) *time.Duration { return &s.HookTimeout }),
		timeout("hooks.lock_timeout", func(s *Settings) *time.Duration { return &s.LockTimeout }),
		boolean(KeyBands, func(s *Settings) *bool { return &s.Bands.Enabled }),
		patterns("bands.exclude", func(s *Settings) *[]string { return &s.Bands.Exclude }),
		size(KeyCap, func(s *Settings) *int64 { return &s.Bands.Cap }),
		size(KeyFreeFloor, func(s *Settings) *int64 { return &s.Bands.FreeFloor }),
	}, append(recallFields(), globalFields()...)...)
	known := scopes()
	for i := range all {
		all[i].scope = known[all[i].key]
	}
	return all
}

// Variable returns the environment variable that sets key: ENTIRE_ and the key in upper case with
// underscores, without the prefix strategy_options.
func Variable(key string) string {
	name := []byte("ENTIRE_" + strings.TrimPrefix(key, "strategy_options."))
	for i, c := range name {
		switch {
		case c == '.':
			name[i] = '_'
		case 'a' <= c && c <= 'z':
			name[i] = c - 'a' + 'A'
		}
	}
	return string(name)
}

func boolean(key string, at func(*Settings) *bool) field {
	return field{
		key: key, allowed: "true or false",
		set: func(s *Settings, r raw) bool { return setBool(at(s), r) },
		get: func(s *Settings) any { return *at(s) },
	}
}

func timeout(key string, at func(*Settings) *time.Duration) field {
	return field{
		key: key, allowed: fmt.Sprintf("a duration from %q to %q", minTimeout, maxTimeout),
		set: func(s *Settings, r raw) bool {
			to := at(s)
			if r.kind > kindString {
				return false
			}
			d, err := time.ParseDuration(r.text)
			if err != nil || d < minTimeout || d > maxTimeout {
				return false
			}
			*to = d
			return true
		},
		get: func(s *Settings) any { return at(s).String() },
	}
}

// size returns a field for a number of bytes; 0 is a default that depends on the file system.
func size(key string, at func(*Settings) *int64) field {
	return field{
		key: key, allowed: `a size of 1MiB or more, like "20GiB"`,
		set: func(s *Settings, r raw) bool {
			to := at(s)
			const least = 1 << 20
			if r.kind > kindString {
				return false
			}
			if r.text == "" {
				*to = 0
				return true
			}
			n, err := ParseSize(r.text)
			if err != nil || n < least {
				return false
			}
			*to = n
			return true
		},
		get: func(s *Settings) any {
			if *at(s) == 0 {
				return ""
			}
			return formatSize(*at(s))
		},
	}
}

// Limits of lists of patterns, since each pattern is matched against every path.
const (
	maxPatterns    = 1000
	maxPatternLen  = 512
	maxPatternsLen = 32 << 10
)

func patterns(key string, at func(*Settings) *[]string) field {
	return field{
		key: key, allowed: fmt.Sprintf(`a list of at most %d paths or patterns, "build/" or "*.iso", of at most %d bytes each and %d in all`,
			maxPatterns, maxPatternLen, maxPatternsLen),
		set: func(s *Settings, r raw) bool {
			to := at(s)
			var list []string
			switch r.kind {
			case kindText:
				if json.Unmarshal([]byte(r.text), &list) != nil { // a JSON list is accepted, too
					list = strings.Split(r.text, ",")
				}
			case kindOther:
				if json.Unmarshal([]byte(r.text), &list) != nil {
					return false
				}
			default:
				return false
			}
			total := 0
			for i, p := range list {
				list[i] = strings.TrimSpace(p)
				if list[i] == "" || len(list[i]) > maxPatternLen || strings.ContainsRune(p, 0) {
					return false
				}
				total += len(list[i])
			}
			if len(list) > maxPatterns || total > maxPatternsLen {
				return false
			}
			*to = list
			return true
		},
		get: func(s *Settings) any { return append([]string{}, *at(s)...) },
	}
}

// mirrors returns the field of further places for checkpoints: objects with a type, or in a variable their
// types between commas.
func mirrors(at func(*Settings) *[]string) field {
	return field{
		key: "checkpoints.mirrors", allowed: `a list of objects with the type "git-branch" or "git-refs"`,
		set: func(s *Settings, r raw) bool {
			var list []struct {
				Type string `json:"type"`
			}
			switch r.kind {
			case kindText:
				for name := range strings.SplitSeq(r.text, ",") {
					list = append(list, struct {
						Type string `json:"type"`
					}{strings.TrimSpace(name)})
				}
			case kindOther:
				decoder := json.NewDecoder(strings.NewReader(r.text))
				if decoder.DisallowUnknownFields(); decoder.Decode(&list) != nil {
					return false
				}
			default:
				return false
			}
			types := make([]string, len(list))
			for i, m := range list {
				if types[i] = m.Type; m.Type != GitBranch && m.Type != GitRefs {
					return false
				}
			}
			*at(s) = types
			return true
		},
		get: func(s *Settings) any {
			list := make([]map[string]string, len(*at(s)))
			for i, name := range *at(s) {
				list[i] = map[string]string{"type": name}
			}
			return list
		},
	}
}

func setBool(to *bool, r raw) bool {
	if r.kind != kindBool && r.kind != kindText {
		return false
	}
	v, err := strconv.ParseBool(r.text)
	if err == nil {
		*to = v
	}
	return err == nil
}

func choose[T ~string](to *T, r raw, allowed ...T) bool {
	if r.kind > kindString || !slices.Contains(allowed, T(r.text)) {
		return false
	}
	*to = T(r.text)
	return true
}

// ParseSize parses a size in bytes: a number and a unit. K, M, G and T are powers of 1024, alone or
// as KiB and so on; KB and so on are powers of 1000.
func ParseSize(text string) (int64, error) {
	bad := errors.New(`not a size: sizes are like "500MiB" or "20GiB"`)
	number := strings.TrimRight(text, "kKMGTiB")
	unit := text[len(number):]
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(value >= 0) { // also rejects NaN
		return 0, bad
	}
	base := 1024.0
	if len(unit) == 2 && unit[1] == 'B' {
		base = 1000
	}
	power := 0
	if unit != "" && unit != "B" {
		power = strings.Index("KMGT", strings.ToUpper(unit[:1])) + 1
		if rest := unit[1:]; power == 0 || (rest != "" && rest != "B" && rest != "iB") {
			return 0, bad
		}
	}
	if value *= math.Pow(base, float64(power)); value > math.MaxInt64/2 {
		return 0, bad
	}
	return int64(value), nil
}

// formatSize is the inverse of ParseSize. It uses the largest unit without a fraction.
func formatSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for n != 0 && n%1024 == 0 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	return strconv.FormatInt(n, 10) + units[i]
}
