package turn

import (
	"github.com/seed-3aff656d/entire/session"
)

// stopTasks notes at a stop which tasks have ended: all that aren't in the
// background, and those too if nothing runs there any more.
func stopTasks(s *session.State, background bool) {
	for i := range s.Recorder.Tasks {
		switch t := &s.Recorder.Tasks[i]; {
		case t.Phase == session.TaskRunning:
			t.Phase = session.TaskDone // its call failed, or its end was not reported
		case t.Phase == session.TaskBackground && !background:
			t.Phase = session.TaskStopped
		}
	}
}
