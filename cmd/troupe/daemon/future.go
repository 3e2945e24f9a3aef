package daemon

// A future is a value that is being made while the daemon does something else.
type future[T any] struct {
	made  chan struct{}
	value T
	err   error
}

// begin starts to make a value.
func begin[T any](make func() (T, error)) *future[T] {
	f := newFuture[T]()
	go func() {
		defer close(f.made)
		f.value, f.err = make()
	}()
	return f
}

func newFuture[T any]() *future[T] { return &future[T]{made: make(chan struct{})} }

// wait is the value, when it is there.
func (f *future[T]) wait() (T, error) {
	<-f.made
	return f.value, f.err
}
