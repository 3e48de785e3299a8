package settings

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// scope describes which values of a key are accepted from the project's files, which every
// committer can write. Every key has one in scopes.
type scope struct {
	// fromProject reports whether a value is accepted from there. nil: every value is.
	fromProject func(l *loader, value any) bool
	// acceptable reports whether a user may accept a value proposed by the project. nil: every
	// value.
	acceptable func(value any) bool
}

// scopes returns the scopes of all keys. A key that runs programs, spends tokens, sends data,
// commits, or loosens a limit must not be anyLayer.
func scopes() map[string]scope {
	anyLayer := scope{}
	ownOnly := scope{fromProject: func(*loader, any) bool { return false }}
	return map[string]scope{
		KeyEnabled: anyLayer,
		KeyStrategy: {
			fromProject: func(_ *loader, value any) bool { return value == any(ManualCommit) },
		},
		"log_level":            anyLayer,
		"local_dev":            anyLayer,
		"telemetry":            anyLayer,
		KeyPushSessions:        anyLayer,
		KeyPushRemote:          {fromProject: ownOnly.fromProject, acceptable: acceptableRemote},
		KeySummarize:           ownOnly,
		"commit_linking":       anyLayer,
		"gemini.amend_commits": ownOnly,
		"hooks.timeout":        {fromProject: durationWithin(time.Second, 10*time.Second)},
		"hooks.lock_timeout":   {fromProject: durationWithin(time.Second, 10*time.Second)},
		KeyPrimary:             anyLayer,
		"checkpoints.mirrors":  anyLayer,
		"strategy_options.checkpoint_push_remote": anyLayer,
		KeyBands:        anyLayer,
		"bands.exclude": anyLayer,
		KeyCap: {fromProject: func(l *loader, value any) bool {
			largest, _ := l.storeDefaults()
			return sizeOf(value) <= largest
		}},
		KeyFreeFloor: {fromProject: func(l *loader, value any) bool {
			_, least := l.storeDefaults()
			return sizeOf(value) == 0 || sizeOf(value) >= least
		}},
		KeyOnClear:                           anyLayer,
		KeyOnStart:                           anyLayer,
		KeyThreshold:                         anyLayer,
		"recall.checkpoint_threshold_tokens": anyLayer,
		KeyVerify:                            anyLayer,
		"recall.at_use":                      anyLayer,
		"recall.auto_summary_enabled":        anyLayer,
		"recall.max_auto_summaries":          {fromProject: atMostDefault("recall.max_auto_summaries")},
		KeyInject:                            anyLayer,
		"recall.cleanup_after_days":          anyLayer,
		"recall.mode":                        anyLayer,
		"recall.capture_files":               anyLayer,
		"recall.capture_analysis":            anyLayer,
		"recall.max_checkpoint_size":         {fromProject: atMostDefault("recall.max_checkpoint_size")},
		"recall.max_file_size":               {fromProject: atMostDefault("recall.max_file_size")},
		"recall.exclude_patterns":            anyLayer,
		KeyModelPass:                         ownOnly,
		KeyGlobal:                            ownOnly,
		KeyExcludePaths:                      ownOnly,
		KeyExcludePathsExact:                 ownOnly,
		KeyExcludeOrigins:                    ownOnly,
		KeyTrustAll:                          ownOnly,
		KeyTrustedOrigins:                    ownOnly,
		KeyTrustedPaths:                      ownOnly,
	}
}

func durationWithin(least, most time.Duration) func(*loader, any) bool {
	return func(_ *loader, value any) bool {
		text, _ := value.(string)
		d, err := time.ParseDuration(text)
		return err == nil && least <= d && d <= most
	}
}

// atMostDefault accepts a number or a size up to the default.
func atMostDefault(key string) func(*loader, any) bool {
	return func(l *loader, value any) bool {
		initial := defaults()
		for i := range l.fields {
			if f := &l.fields[i]; f.key == key {
				return sizeOf(value) <= sizeOf(f.get(&initial))
			}
		}
		return false
	}
}

// sizeOf returns a number or a size as a number, 0 for an empty one.
func sizeOf(value any) int64 {
	switch v := value.(type) {
	case int:
		return int64(v)
	case string:
		n, err := ParseSize(v)
		if err == nil {
			return n
		}
	}
	return 0
}

// storeDefaults returns the defaults of bands.cap and bands.free_floor.
func (l *loader) storeDefaults() (largest, least int64) {
	largest, least = 20<<30, 5<<30
	if l.from.StoreDefaults == nil {
		return largest, least
	}
	if c, f := l.from.StoreDefaults(); c > 0 && f > 0 {
		return c, f
	}
	return largest, least
}

// IsRemoteURL reports whether text is an https or ssh URL, or an address like git@host:path, for
// which git uses ssh.
func IsRemoteURL(text string) bool {
	if before, _, ok := strings.Cut(text, "://"); ok && !strings.Contains(before, "/") && !strings.Contains(before, ":") {
		u, err := url.Parse(text)
		return err == nil && slices.Contains([]string{"https", "ssh"}, strings.ToLower(u.Scheme)) && u.Host != "" && !strings.HasPrefix(u.Host, "-")
	}
	host, path, ok := strings.Cut(text, ":")
	if !ok || host == "" || strings.Contains(host, "/") || path == "" || strings.HasPrefix(path, ":") {
		return false
	}
	return !strings.HasPrefix(host[strings.Index(host, "@")+1:], "-") && !strings.HasPrefix(host, "-")
}

// acceptableRemote reports whether a project may propose the remote: paths and other transports are
// accepted only from the user's own layers.
func acceptableRemote(value any) bool {
	text, _ := value.(string)
	if text == "" || IsRemoteURL(text) {
		return text != ""
	}
	// Git parses these as a path, or as a URL of another transport, rather than as a remote's name.
	return !strings.ContainsAny(text, ":\\") && !strings.ContainsAny(text[:1], "/.~")
}

// isForProject reports whether a value is accepted from the project's files.
func (l *loader) isForProject(f *field, r raw) bool {
	if f.scope.fromProject == nil {
		return true
	}
	var trial Settings
	return f.set(&trial, r) && f.scope.fromProject(l, f.get(&trial))
}

// isProject reports whether a source belongs to the repository: the project's file, or a personal
// file that git tracks.
func (l *loader) isProject(from Source) bool {
	switch from.Layer {
	case Project:
		return true
	case Local:
		root := filepath.Dir(filepath.Dir(from.Name))
		tracked, known := l.tracked[root]
		if !known {
			tracked = l.from.Tracked != nil && l.from.Tracked(root)
			if l.tracked == nil {
				l.tracked = map[string]bool{}
			}
			l.tracked[root] = tracked
		}
		return tracked
	default:
		return false
	}
}

// propose lists a value of the project's files that isn't effective by itself, or applies it if the
// user has approved exactly this value.
func (l *loader) propose(f *field, r raw, from Source) {
	var trial Settings
	if !f.set(&trial, r) {
		l.Problems = append(l.Problems, bad(f, r, from))
		return
	}
	value := f.get(&trial)
	switch {
	case value == f.get(&Settings{}): // it has no effect
		return
	case f.scope.acceptable != nil && !f.scope.acceptable(value):
		p := bad(f, r, from)
		p.Allowed += ", and from a project's file no path and no other transport than https and ssh"
		l.Problems = append(l.Problems, p)
		return
	case l.isApproved(f.key, fmt.Sprint(value)):
		f.set(&l.Settings, r)
		l.sources[f.key] = Source{Project, from.Name}
		delete(l.refused, f.key)
		return
	}
	l.Proposals = slices.DeleteFunc(l.Proposals, func(p Proposal) bool { return p.Key == f.key })
	l.Proposals = append(l.Proposals, Proposal{Key: f.key, Value: fmt.Sprint(value), File: from.Name})
}
