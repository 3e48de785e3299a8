package digest

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// SetCompaction sets the agent's summary at a compaction, from the hook or the transcript,
// without the text that the agent puts around it.
func (d *Digest) SetCompaction(summary string, redact plain.Redactor) {
	d.CompactedAt, d.Ended = d.Asks, false
	d.Compaction = plain.Text(bareSummary(plain.Head(summary, plain.MaxScanned)), maxCompaction, redact)
}

// bareSummary returns a summary without its analysis and without the instructions to
// continue.
func bareSummary(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "This session is being continued ") {
		_, s, _ = strings.Cut(s, "\n")
	}
	s, _, _ = strings.Cut(s, "\nIf you need specific details from before compaction")
	for _, tag := range []string{"system-reminder", "analysis"} {
		before, rest, ok := strings.Cut(s, "<"+tag+">")
		if _, after, closed := strings.Cut(rest, "</"+tag+">"); ok && closed {
			s = before + after
		}
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "Analysis:") {
		if _, rest, ok := strings.Cut(s, "\nSummary:"); ok {
			s = rest
		}
	}
	s = strings.TrimPrefix(strings.TrimSpace(s), "<summary>")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "</summary>"))
}
