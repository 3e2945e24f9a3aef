package client

import (
	"context"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// Session is a server for one test, with a context that limits the test's duration.
type Session struct {
	*Server
	Ctx context.Context
	T   *testing.T
}

// Open starts a server for a test. change, which may be nil, modifies its configuration. The
// context expires after twice the Watchdog duration.
func Open(t *testing.T, change func(*daemon.Config)) Session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*Watchdog)
	t.Cleanup(cancel)
	return Session{Serve(t, t.TempDir(), change), ctx, t}
}

// Send sends a request and fails the test unless the response has the given status code.
func (s Session) Send(code int, method, path, contentType, body string) Answer {
	s.T.Helper()
	answer, err := s.Do(s.Ctx, method, path, contentType, []byte(body))
	if err != nil || answer.Code != code {
		s.T.Fatalf("%s %s %s %s: %v, %v, want %d", method, path, contentType, body, answer, err, code)
	}
	return answer
}
