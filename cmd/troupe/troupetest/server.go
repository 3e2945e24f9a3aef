package troupetest

import (
	"context"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// stopTimeout limits the wait for in-flight requests at the end of a test.
const stopTimeout = 10 * time.Second

// A Server is an API server for one test. Its Credentials are the administrator's.
type Server struct {
	// URL is the server's address, such as https://127.0.0.1:36541.
	URL string
	*Credentials

	t      testing.TB
	daemon *daemon.Daemon
}

// Start starts a server and returns when it is ready. The server stops when the test and all its
// subtests have ended. Errors fail the test immediately.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	o := newSettings(options)
	logs := &logBuffer{}
	d, err := daemon.New(o.config, logs)
	if err != nil {
		t.Fatalf("troupetest: %v", err)
	}
	d.SetClock(o.now)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the server %s\n%s", o.name, logs.String())
		}
	})
	if err := d.Start(); err != nil {
		t.Fatalf("troupetest: starting the server: %v", err)
	}
	s := &Server{URL: d.URL(), Credentials: newCredentials(t, d.AdminCredentials()), t: t, daemon: d}
	o.name = s.URL
	t.Cleanup(s.stop)
	s.Load(o.files...)
	return s
}

func (s *Server) stop() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := s.daemon.Stop(ctx); err != nil {
		s.t.Errorf("troupetest: stopping the server: %v", err)
	}
}

// User issues credentials for a user in the given groups. RBAC determines the user's permissions.
func (s *Server) User(name string, groups ...string) *Credentials {
	s.t.Helper()
	c, err := s.daemon.IssueCredentials(name, groups...)
	if err != nil {
		s.t.Fatalf("troupetest: creating credentials of user %q: %v", name, err)
	}
	return newCredentials(s.t, c)
}
