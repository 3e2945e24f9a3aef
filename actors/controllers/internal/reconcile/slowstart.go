package reconcile

// SlowStart calls create n times, in parallel batches that start with one call and double in size.
// It stops after the first batch with an error, so that a persistent cause, such as an exhausted
// quota, fails one call instead of hundreds.
func SlowStart(n int, create func() error) error {
	for batch := 1; n > 0; batch *= 2 {
		batch = min(batch, n)
		if err := ForEachParallel(make([]struct{}, batch), func(struct{}) error { return create() }); err != nil {
			return err
		}
		n -= batch
	}
	return nil
}
