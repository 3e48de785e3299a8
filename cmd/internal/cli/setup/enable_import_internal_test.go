package setup

import (
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/strategy/importing"
)

func TestPastText(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		sessions, hours int
		want            string
	}{
		{1, 1, "1 session"},
		{2, 48, "2 sessions"},
		{3, 49, "3 sessions of the last 3 days"},
		{4, 15 * 24, "4 sessions of the last 3 weeks"},
		{10000, 239 * 24, "10,000 sessions of the last 8 months"},
	} {
		past := importing.Offer{Sessions: c.sessions, Since: now.Add(-time.Duration(c.hours) * time.Hour)}
		if got := pastText(now, past); got != c.want {
			t.Errorf("%d sessions in %d hours: %q, want %q", c.sessions, c.hours, got, c.want)
		}
	}
	if got := pastText(now, importing.Offer{Sessions: 2}); got != "2 sessions" {
		t.Errorf("without a time: %q", got)
	}
}

func TestImportTime(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]string{0: "a few seconds", 100 << 20: "a few seconds", 1200 << 20: "about 40 s", 30 << 30: "about 18 min"} {
		if got := importTime(size); got != want {
			t.Errorf("%d bytes: %q, want %q", size, got, want)
		}
	}
}
