package rewind

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// LeastPointPrefix is the minimum length of an abbreviated id of a point.
const LeastPointPrefix = 7

// leastShort is the minimum length if no commit has that name.
const leastShort = 4

// FindPoint returns the point that a text names: a version (v12, 12), the beginning of the
// last turn of the worktree in the index ("last") or of one before it ("last:2"), the id of a point or its beginning, a
// checkpoint's id, a time ("10 minutes ago", "10m", "2026-01-27 10:32"), or a commit as git
// understands it (HEAD~2). A text such as "123d" is an id's beginning only if no snapshot is that
// old. If there is no point, or several, it returns a *PointError with the reason.
func FindPoint(ctx context.Context, w *workspace.Workspace, spec string) (Point, error) {
	if spec == "" {
		return Point{}, &PointError{spec, "names nothing"}
	}
	if v, err := bands.ParseVersion(spec); err == nil && (spec[0] == 'v' || len(spec) < LeastPointPrefix) {
		return pointOfNumber(ctx, w, spec, v)
	}
	if n, ok := ParseTurn(spec); ok {
		return pointBeforeTurn(ctx, w, spec, n)
	}
	points, err := ListPoints(ctx, w, MaxPoints)
	if err != nil {
		return Point{}, err
	}
	var found pointList // the first one of each id
	for _, p := range points {
		name := strings.ToLower(spec)
		is := p.ID == name || (len(name) >= LeastPointPrefix && strings.HasPrefix(p.ID, name)) || string(p.Checkpoint) == name
		if is && !slices.ContainsFunc(found, func(q Point) bool { return q.ID == p.ID }) {
			found = append(found, p)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	id, err := checkpoint.ParseID(spec)
	if len(found) > 1 && err != nil {
		return Point{}, &PointError{spec, "is the beginning of " + strings.Join(found.ids(), " and of ")}
	}
	if err == nil { // several commits may carry a checkpoint
		p, err := pointOfCheckpoint(ctx, w, spec, id)
		if err == nil && p.Commit == "" {
			p.Commit, err = carrier(ctx, w, points, id)
		}
		return p, err
	}
	if at, ok := ParseTime(spec, w.Env.Now()); ok {
		p, err := pointBefore(w, spec, at)
		if err == nil {
			return p, nil
		}
		return onlyByPrefix(points, spec, err)
	}
	p, err := pointOfCommit(ctx, w, spec, points)
	if err == nil || len(spec) < leastShort {
		return p, err
	}
	switch found := byPrefix(points, strings.ToLower(spec)); len(found) {
	case 0:
		return p, err
	case 1:
		return found[0], nil
	default:
		return Point{}, &PointError{spec, "is the beginning of " + strings.Join(found.ids(), " and of ")}
	}
}

// carrier returns the newest commit that carries a checkpoint: among the newest points, else
// among all; empty if there is none.
func carrier(ctx context.Context, w *workspace.Workspace, newest []Point, id checkpoint.ID) (git.OID, error) {
	carries := func(p Point) bool { return p.Checkpoint == id && p.Commit != "" }
	if i := slices.IndexFunc(newest, carries); i >= 0 {
		return newest[i].Commit, nil
	}
	all, err := ListPoints(ctx, w, AllPoints)
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(all, carries); i >= 0 {
		return all[i].Commit, nil
	}
	return "", nil
}

// pointList is a list of points with different ids.
type pointList []Point

func (l pointList) ids() []string {
	ids := make([]string, len(l))
	for i, p := range l {
		ids[i] = p.ID
	}
	return ids
}

// byPrefix returns the points whose id, or whose checkpoint's, begins with a text.
func byPrefix(points []Point, text string) pointList {
	var found pointList
	for _, p := range points {
		is := strings.HasPrefix(p.ID, text) || strings.HasPrefix(string(p.Checkpoint), text)
		same := func(q Point) bool { return q.ID == p.ID || p.Checkpoint != "" && q.Checkpoint == p.Checkpoint }
		if is && !slices.ContainsFunc(found, same) {
			found = append(found, p)
		}
	}
	return found
}

// onlyByPrefix returns the only point whose id begins with spec, which names a version or a time
// without a snapshot: err.
func onlyByPrefix(points []Point, spec string, err error) (Point, error) {
	if found := byPrefix(points, strings.ToLower(spec)); len(spec) >= leastShort && len(found) == 1 {
		return found[0], nil
	}
	return Point{}, err
}

// ParseTurn parses the name of one of the last turns: "last" and "last turn", which are 1, "last:2" and "2 turns ago".
func ParseTurn(spec string) (n int, ok bool) {
	spec = strings.ToLower(strings.Join(strings.Fields(spec), " "))
	if digits, ok := strings.CutSuffix(strings.Replace(spec, "turns", "turn", 1), " turn ago"); ok {
		n, err := strconv.Atoi(digits)
		return n, err == nil && n > 0
	}
	rest, ok := strings.CutPrefix(spec, "last")
	if !ok || rest == "" || rest == " turn" {
		return 1, ok
	}
	digits, ok := strings.CutPrefix(rest, ":")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0
}

// pointOfNumber returns the point of a version or, if there is none and the digits begin
// exactly one id, the point with that id.
func pointOfNumber(ctx context.Context, w *workspace.Workspace, spec string, v bands.Version) (Point, error) {
	p, err := pointAt(w, spec, v)
	if !errors.Is(err, bands.ErrNoSnapshot) || spec[0] == 'v' {
		return p, err
	}
	points, listErr := ListPoints(ctx, w, MaxPoints)
	if listErr != nil {
		return Point{}, listErr
	}
	return onlyByPrefix(points, spec, err)
}

// pointAt returns the point of a version.
func pointAt(w *workspace.Workspace, spec string, v bands.Version) (Point, error) {
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return Point{}, &PointError{spec, err.Error()}
	}
	s, err := store.Snapshot(v)
	if err != nil {
		return Point{}, err
	}
	if len(s.Only) > 0 {
		return Point{}, &PointError{spec, "only has the files that a rewind changed; it belongs to " + tracking.TargetName(store, v)}
	}
	if s.Lineage != tracking.Lineage(w) {
		return Point{}, &PointError{spec, "is a snapshot of the worktree " + s.Root}
	}
	return pointOf(store, s).Point, nil
}

// pointOfCheckpoint returns the point of a checkpoint, with its snapshot if there is one.
func pointOfCheckpoint(ctx context.Context, w *workspace.Workspace, spec string, id checkpoint.ID) (Point, error) {
	if store, err := tracking.SnapshotStore(w); err == nil {
		if v, err := store.Lineage(tracking.Lineage(w)).Paired(string(id)); err == nil && v != 0 {
			p, err := pointAt(w, spec, v)
			p.Checkpoint = id // it may be paired with others too
			return p, err
		}
	}
	records, err := w.LocalRecords(ctx)
	if err != nil {
		return Point{}, err
	}
	stored, err := records.Read(ctx, id)
	if err != nil && !errors.Is(err, git.ErrMissing) {
		return Point{}, &PointError{spec, "no such checkpoint"}
	}
	p := Point{ID: string(id), Message: "checkpoint " + string(id), Checkpoint: id}
	if main, ok := stored.Main(); ok {
		p.Session, p.Date = main.Meta.SessionID, main.Meta.CreatedAt
	}
	return p, nil
}

// pointBefore returns the point of the last snapshot at or before a time.
func pointBefore(w *workspace.Workspace, spec string, at time.Time) (Point, error) {
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return Point{}, &PointError{spec, err.Error()}
	}
	versions, err := store.Versions()
	if err != nil {
		return Point{}, err
	}
	for _, v := range slices.Backward(versions) {
		s, err := store.Snapshot(v)
		if err == nil && s.Lineage == tracking.Lineage(w) && !s.Created.After(at) {
			return pointOf(store, s).Point, nil
		}
	}
	return Point{}, &PointError{spec, "no snapshot is that old"}
}

// pointOfCommit returns the point of a commit: that of its checkpoint, or of the shadow commit
// itself.
func pointOfCommit(ctx context.Context, w *workspace.Workspace, spec string, points []Point) (Point, error) {
	if strings.HasPrefix(spec, "-") {
		return Point{}, &PointError{spec, "no such point"}
	}
	c, err := w.Repo.Commit(ctx, spec+"^{commit}")
	if err != nil {
		return Point{}, &PointError{spec, "no such point"}
	}
	if i := slices.IndexFunc(points, func(p Point) bool {
		return p.Shadow == c.OID || p.Commit == c.OID && slices.Contains(checkpoint.IDsOf(c), p.Checkpoint)
	}); i >= 0 {
		p := points[i]
		p.Commit = c.OID
		return p, nil
	}
	for _, id := range slices.Backward(checkpoint.IDsOf(c)) {
		p, err := pointOfCheckpoint(ctx, w, spec, id)
		if err == nil {
			p.Commit = c.OID
			return p, nil
		}
	}
	if Trailer(c.Message, checkpoint.SessionKey) != "" {
		return Point{ID: string(c.OID), Message: plain.FirstLine(c.Message), Date: c.Committer.When, Shadow: c.OID, Session: Trailer(c.Message, checkpoint.SessionKey)}, nil
	}
	return Point{}, &PointError{spec, "the commit " + c.OID.Short() + " has no checkpoint and no snapshot"}
}

// PointTarget returns the snapshot of a point and its store.
func PointTarget(w *workspace.Workspace, p Point) (*bands.Store, bands.Snapshot, error) {
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return nil, bands.Snapshot{}, err
	}
	s, err := store.Snapshot(p.Snapshot)
	return store, s, err
}

// ParseTime parses a time: how long ago it was ("90m", "1h30m", "1.5d", "10 minutes ago",
// "half an hour ago", "yesterday"), a time of the last 24 hours ("14:30"), a date, or a date
// and a time.
func ParseTime(text string, now time.Time) (time.Time, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "yesterday" {
		return now.AddDate(0, 0, -1), true
	}
	if ago, ok := parseAgo(text); ok {
		return now.Add(-ago), true
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, strings.ToUpper(text), now.Location()); err == nil {
			return at, true
		}
	}
	text = strings.TrimPrefix(text, "today ")
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			today := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, now.Location())
			if today.After(now) {
				today = today.AddDate(0, 0, -1)
			}
			return today, true
		}
	}
	return time.Time{}, false
}

// parseAgo parses a duration, with or without "ago", that fits a time.Duration. It accepts
// less than time.ParseDuration does: "0" and "1e5d" may also be the beginning of an id.
func parseAgo(text string) (time.Duration, bool) {
	text, hasAgo := strings.CutSuffix(text, "ago")
	text = strings.TrimRight(text, " .")
	if regexp.MustCompile(`^(?:\d+(?:\.\d+)?[hms])+$`).MatchString(text) {
		d, err := time.ParseDuration(text)
		return d, err == nil
	}
	m := regexp.MustCompile(`^(\d+(?:\.\d+)?|an? ?)[ .]*([a-z]+?)s?$`).FindStringSubmatch(strings.Replace(text, "half an hour", "30 minutes", 1))
	if m == nil || !hasAgo && len(m[2]) > 1 {
		return 0, false
	}
	const day = 24 * time.Hour
	units := map[string]time.Duration{
		"second": time.Second, "sec": time.Second, "s": time.Second,
		"minute": time.Minute, "min": time.Minute, "m": time.Minute,
		"hour": time.Hour, "h": time.Hour, "day": day, "d": day, "week": 7 * day, "w": 7 * day,
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		n = 1 // "a", "an"
	}
	d := n * float64(units[m[2]])
	return time.Duration(d), units[m[2]] != 0 && d < float64(1<<63)
}
