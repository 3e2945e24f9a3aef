package client

import (
	"context"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// A Session is a daemon of one test, and the time that the test may take.
type Session struct {
	*Server
	Ctx context.Context
	T   *testing.T
}

// Open starts a daemon for a test, with its settings changed if change is given. The test has two
// minutes.
func Open(t *testing.T, change func(*daemon.Config)) Session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return Session{Serve(t, t.TempDir(), change), ctx, t}
}

// Send sends a request, whose answer must have a code.
func (s Session) Send(code int, method, path, contentType, body string) Answer {
	s.T.Helper()
	answer, err := s.Do(s.Ctx, method, path, contentType, []byte(body))
	if err != nil || answer.Code != code {
		s.T.Fatalf("%s %s %s %s: %v, %v, want %d", method, path, contentType, body, answer, err, code)
	}
	return answer
}
