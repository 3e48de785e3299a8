package workspace

import (
	"fmt"
	"sync"
)

// Guard runs do beside its caller; a panic becomes an error, as one in a
// hook's goroutine would end the hook.
func Guard(wait *sync.WaitGroup, failed *error, do func() error) {
	wait.Go(func() { *failed = Recover(do) })
}

// Recover runs do; a panic becomes an error.
func Recover(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}
