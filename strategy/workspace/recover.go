package workspace

import (
	"fmt"
	"sync"
)

// Guard runs do in a goroutine of wait and stores its error in failed. A panic becomes
// an error: in a goroutine it would end the hook.
func Guard(wait *sync.WaitGroup, failed *error, do func() error) {
	wait.Go(func() { *failed = Recover(do) })
}

// Recover runs do and returns a panic as an error.
func Recover(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}
