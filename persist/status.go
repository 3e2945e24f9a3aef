package persist

import (
	"fmt"
	"sync"
)

type status struct {
	mu                sync.Mutex // held only briefly
	failure           error      // first failure; all later calls are rejected
	closed, recovered bool
}

// check returns an error if the journal has failed, is closed or has not been recovered. The
// failure of a closed journal takes precedence, because it is more specific.
func (s *status) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failure != nil:
		return s.failure
	case s.closed:
		return errClosed
	case !s.recovered:
		return errNotRecovered
	}
	return nil
}

func (s *status) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

func (s *status) fail(cause error) (failure error, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first = s.failure == nil; first {
		s.failure = fmt.Errorf("%w: %w", ErrFailed, cause)
	}
	return s.failure, first
}

func (s *status) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *status) close() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.closed
	s.closed = true
	return !was
}

func (s *status) setRecovered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recovered = true
}
