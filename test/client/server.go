package client

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
)

// Server is a server in this process, with an administrator's client.
type Server struct {
	*Client
	daemon *daemon.Daemon
	others []*daemon.Daemon // share the same data
}

// WithoutRoots disables the controller that publishes a ConfigMap in each namespace, so that all
// ConfigMaps come from tests.
const WithoutRoots = "*,-root-ca-certificate-publisher-controller"

// Serve starts a server on a free port, with the data directory dir and the controllers
// WithoutRoots. change, which may be nil, modifies its configuration. The server stops when the
// test ends.
func Serve(t testing.TB, dir string, change func(*daemon.Config)) *Server {
	t.Helper()
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort, config.Controllers = dir, 0, WithoutRoots
	if change != nil {
		change(&config)
	}
	return ServeConfig(t, config, t.Output())
}

// ServeConfig is like Serve, but takes a complete configuration and a writer for the log.
func ServeConfig(t testing.TB, config daemon.Config, logs io.Writer) *Server {
	t.Helper()
	keepIn(t, &config)
	if overHTTP2() {
		SpeakHTTP2(&config)
	}
	d := start(t, config, logs)
	c, err := New(d.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Client: c, daemon: d}
	t.Cleanup(func() { s.Stop(t) })
	hosts := []string{strings.TrimPrefix(d.URL(), "https://")}
	for range Daemons(t) - 1 {
		config.DataDir, config.Serving.SecurePort = t.TempDir(), 0
		other := start(t, config, logs)
		s.others, hosts = append(s.others, other), append(hosts, strings.TrimPrefix(other.URL(), "https://"))
	}
	if len(hosts) > 1 {
		c.Balance(hosts)
	}
	return s
}

// start starts a server. It retries while the data directory of a stopped server is locked, because
// a child process forked by another test holds the lock until it calls exec.
func start(t testing.TB, config daemon.Config, logs io.Writer) (d *daemon.Daemon) {
	t.Helper()
	var err error
	Poll(func() bool {
		if d, err = daemon.New(config, logs); err == nil {
			err = d.Start()
		}
		return !errors.Is(err, persist.ErrLocked)
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// First returns a Server whose client uses only one of several servers. Tests of per-server state,
// such as limits, need it.
func (s *Server) First(t testing.TB) *Server {
	t.Helper()
	c, err := New(s.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &Server{Client: c, daemon: s.daemon}
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (s *Server) Kubeconfig() string { return s.daemon.Kubeconfig() }

// Stop stops the server gracefully. It may be called twice.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Watchdog)
	defer cancel()
	for _, d := range append(s.others, s.daemon) {
		if err := d.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	s.Close()
}

// KeepingControllers lists controllers that do not modify clients' objects. It excludes the garbage
// collector, and controllers that write a status or finalizers, or create related objects.
const KeepingControllers daemon.Controllers = WithoutRoots + ",-certificatesigningrequest-signing-controller,-ephemeral-volume-controller,-garbage-collector-controller,-persistentvolume-binder-controller,-resourcequota-controller,-validatingadmissionpolicy-status-controller,-apiservice-availability-controller,-disruption-controller,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller,-service-cidr-controller,-storage-version-migrator-controller,-priority-and-fairness-config-producer,-persistentvolume-protection-controller,-persistentvolumeclaim-protection-controller,-volumeattributesclass-protection-controller"
