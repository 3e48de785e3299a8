package transcript

import (
	"context"
	"errors"
	"fmt"
)

// Follower is told what is new in a transcript.
type Follower struct {
	// Restart is called before the first line if the cursor does not fit the
	// file, so that the lines are those of the file from its beginning.
	Restart func()
	// Line gets each raw line that is whole and not empty; it is valid only
	// until Line returns.
	Line func(raw []byte)
	// Limit is after how many bytes to end, 0 for no limit. One line is read
	// whatever its length.
	Limit int64
}

// Follow hands over the lines from where an earlier call ended to the present
// end, as [Read] takes them, and returns where the next call goes on; rest says
// that the limit left lines unread. What was handed over before an error is
// behind the cursor of no answer: take it back, or begin anew.
// It wraps [ErrNotFound] and [ErrNotRegular].
func Follow(ctx context.Context, path string, from Cursor, to Follower) (at Cursor, rest bool, err error) {
	f, info, err := open(path)
	if err != nil {
		return from, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at, rest, err = follow(ctx, file{src: f, info: info}, from, to)
	if err != nil {
		return from, false, fmt.Errorf("read transcript %s: %w", path, err)
	}
	return at, rest, nil
}

func follow(ctx context.Context, f file, from Cursor, to Follower) (at Cursor, rest bool, err error) {
	at, joined, err := resume(f, from)
	if err != nil {
		return from, false, err
	}
	if from.Offset != 0 && at.Offset == 0 {
		to.Restart()
	}
	start, size := at.Offset, f.info.Size()
	err = wholeLines(ctx, newStream(f.src, start, size), &progress{at: &at, joined: joined}, func(line []byte, _ int) bool {
		to.Line(line)
		rest = to.Limit > 0 && at.Offset-start >= to.Limit && at.Offset < size
		return !rest
	})
	if err != nil {
		return from, false, err
	}
	at.Tail, _, err = tail(f.src, at.Offset)
	return at, rest, err
}
