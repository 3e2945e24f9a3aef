package troupetest

import (
	"context"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// stopTimeout is how long requests that are in flight at the end of a test may take.
const stopTimeout = 10 * time.Second

// A Server is an API server that runs for one test. Its credentials are those of the administrator.
type Server struct {
	// URL is where it serves, as in https://127.0.0.1:36541.
	URL string
	*Credentials

	t      testing.TB
	daemon *daemon.Daemon
}

// Start starts a server and stops it when the test, and all its subtests, have ended. The server answers requests when
// Start returns. What goes wrong fails the test at once.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	o := newSettings(options)
	logs := &logBuffer{}
	d, err := daemon.New(o.config, logs)
	if err != nil {
		t.Fatalf("troupetest: %v", err)
	}
	d.SetClock(o.now)
	// Whatever goes wrong from here on, the log says more about it.
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of the server %s\n%s", o.name, logs.String())
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

// stop is called once, by the test.
func (s *Server) stop() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := s.daemon.Stop(ctx); err != nil {
		s.t.Errorf("troupetest: stopping the server: %v", err)
	}
}

// User makes credentials of a user of that name, who is a member of the groups and of system:authenticated. What the user
// may do is for roles and bindings to say.
func (s *Server) User(name string, groups ...string) *Credentials {
	s.t.Helper()
	c, err := s.daemon.IssueCredentials(name, groups...)
	if err != nil {
		s.t.Fatalf("troupetest: making credentials of the user %q: %v", name, err)
	}
	return newCredentials(s.t, c)
}
