package daemon

// A future is a value that is being made while the daemon does something else.
type future[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// startFuture starts to make a value.
func startFuture[T any](make func() (T, error)) *future[T] {
	f := newFuture[T]()
	go func() {
		defer close(f.done)
		f.value, f.err = make()
	}()
	return f
}

func newFuture[T any]() *future[T] { return &future[T]{done: make(chan struct{})} }

// wait is the value, when it is there.
func (f *future[T]) wait() (T, error) {
	<-f.done
	return f.value, f.err
}
