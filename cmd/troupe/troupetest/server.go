package troupetest

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// stopTimeout is how long in-flight requests may continue at the end of a test.
const stopTimeout = 10 * time.Second

// A Server is an API server for one test. Its Credentials are the administrator's.
type Server struct {
	// URL is the server's address, such as https://127.0.0.1:36541.
	URL string
	*Credentials

	t        testing.TB
	daemon   *daemon.Daemon
	settings *settings
	recorder *actors.Recorder
}

// Start starts a server and returns when it is ready. The server stops when the test and all its
// subtests have ended. Errors fail the test immediately.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	return start(t, newSettings(options), daemon.New)
}

// Fork starts a server with a copy of base's objects, which saves tests from creating them again.
// base's credentials and tokens are also valid at the fork, and resource versions continue. The
// fork has the options of base, except for files, and then the given ones. base may be running or
// stopped. Later changes of one do not affect the other.
func Fork(t testing.TB, base *Server, options ...Option) *Server {
	t.Helper()
	return start(t, base.settings.with(options), base.daemon.Fork)
}

func start(t testing.TB, o *settings, create func(daemon.Config, io.Writer) (*daemon.Daemon, error)) *Server {
	t.Helper()
	logs := &logBuffer{}
	d, err := create(o.daemonConfig(), logs)
	if err != nil {
		t.Fatalf("troupetest: %v", err)
	}
	d.SetClock(o.now)
	recorder := d.Record()
	t.Cleanup(func() {
		if t.Failed() {
			logFaults(t, d.Faults())
			t.Logf("log of the server %s\n%s", o.name, logs.String())
		}
	})
	if err := d.Start(); err != nil {
		t.Fatalf("troupetest: starting the server: %v", err)
	}
	s := &Server{URL: d.URL(), Credentials: newCredentials(t, d.AdminCredentials()), t: t, daemon: d, settings: o, recorder: recorder}
	o.name = s.URL
	t.Cleanup(s.stop)
	s.Load(o.files...)
	if o.config.Serving.FaultInjection {
		s.SetFaults(o.faults...)
	}
	return s
}

// Restart stops the server and starts it again with the same address, credentials and state, even
// if the state is in memory. Open watches end as in a shutdown, and clients can resume them. Faults
// and recorded changes continue. Do not call other methods meanwhile.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	next, err := s.daemon.Restart(ctx)
	if err != nil {
		t.Fatalf("troupetest: restarting the server: %v", err)
	}
	s.daemon = next
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
