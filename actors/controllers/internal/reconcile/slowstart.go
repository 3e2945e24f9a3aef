package reconcile

// SlowStart calls create n times, in batches that begin with one call and double as long as none fails. It ends with
// the batch in which one does.
// When all creates fail for one reason, such as a quota, one call is made instead of hundreds. create runs in several
// goroutines at a time.
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
