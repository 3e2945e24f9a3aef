package reconcile

import (
	"errors"
	"sync"
)

// MaxWorkers is the number of objects to process in parallel. It is high because concurrent writes
// share a disk sync.
const MaxWorkers = 64

// ForEachParallel calls do for every item, at most MaxWorkers at a time, and joins the errors.
func ForEachParallel[T any](items []T, do func(T) error) error {
	var (
		wait   sync.WaitGroup
		mu     sync.Mutex // guards faults
		faults []error
		slots  = make(chan struct{}, MaxWorkers)
	)
	for _, t := range items {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := do(t); err != nil {
				mu.Lock()
				faults = append(faults, err)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return errors.Join(faults...)
}
