package client

import (
	"context"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// Server is a daemon in this process, with its administrator's client.
type Server struct {
	*Client
	daemon *daemon.Daemon
}

// Serve starts a daemon with the data directory dir, on a free port. change may modify its
// configuration; it may be nil. The daemon is stopped at the end of the test, if Stop is not called
// before.
func Serve(t testing.TB, dir string, change func(*daemon.Config)) *Server {
	t.Helper()
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort = dir, 0
	if change != nil {
		change(&config)
	}
	d, err := daemon.New(config, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := New(d.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{c, d}
	t.Cleanup(func() { s.Stop(t) })
	return s
}

// Stop stops the daemon gracefully. It may be called twice.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.daemon.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	s.Close()
}
