package http

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/http/internal/connect"
	"github.com/troupe-api/troupe/http/internal/discovery"
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/internal/metrics"
	"github.com/troupe-api/troupe/policy/impersonation"
)

// A Server serves the API on one listener.
type Server struct {
	opts         Options
	names        negotiate.Names
	log          *slog.Logger
	impersonator impersonation.Impersonator
	encoder      represent.Encoder // of answers
	locator      *connect.Locator  // nil: nothing is proxied to members of a cluster

	// What routes a request (route.go).
	fixed      fixedRoutes
	operations map[operationKey]Operation
	readers    map[operationKey]Reader
	documents  *discovery.Cache
	version    []byte // the document at /version

	// What bounds requests (flowcontrol.go, limiter.go, memory.go).
	flowHeaders    flowHeaders
	limiters       limiters
	bodyBudget     *limits.Budget
	responseBudget *limits.Budget
	workBytes      atomic.Int64 // bytes that are set aside for the work of requests

	// What runs.
	connections *wire.Connections
	watches     *stream.Registry
	draining    atomic.Bool // /readyz fails

	// What is told about it (metrics.go, health.go, zpages.go).
	started        time.Time
	healthMetrics  healthMetrics
	requestMetrics *requestMetrics
	memoryRefused  metrics.Counter
}

// New makes a server; it serves only when Serve is called.
//
// The order matters: the discovery needs the names, the metrics the connections, and the routes everything. From here
// on the fields that have no lock or atomic of their own are only read.
func New(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.Limits.setDefaults()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		started: time.Now(), opts: o, names: negotiate.NewNames(o.Naming), log: o.Logger,
		version:        discovery.Version(cmp.Or(o.GitVersion, discovery.GitVersion(o.Version))),
		requestMetrics: newRequestMetrics(func(group, version, resource string) bool { return o.Catalog.Kind(group, version, resource) != nil }),
		healthMetrics:  newHealthMetrics(),
		watches:        stream.NewRegistry(o.Logger),
		impersonator:   impersonation.Impersonator{Naming: o.Naming},
	}
	if o.CBOR {
		s.names.AddCBOR()
	}
	s.encoder = represent.Encoder{Naming: o.Naming, Names: &s.names, Catalog: o.Catalog}
	if o.MemoryMonitor != nil {
		s.encoder.Forms.Scarce = o.MemoryMonitor.UnderPressure
	}
	var err error
	if s.operations, err = resolve(s, o.Operations); err != nil {
		return nil, err
	}
	if s.readers, err = resolve(s, o.Readers); err != nil {
		return nil, err
	}
	s.flowHeaders = newFlowHeaders(o.Naming)
	s.limiters.init(o.Limits, o.Naming, o.FlowControl != nil)
	if o.Members != nil {
		s.locator = s.newLocator(o.Members, o.Kubelets)
	}
	s.bodyBudget = limits.NewBudget(o.Limits.MaxTotalBodyBytes)
	s.responseBudget = limits.NewBudget(o.Limits.MaxResponseBytes)
	s.connections = s.newConnections()
	s.documents = discovery.NewCache(discovery.Options{
		Naming: o.Naming, Catalog: o.Catalog, ExternalAddress: o.ExternalAddress,
		PatchTypes: s.names.PatchTypes, CBOR: o.CBOR, FixedPaths: s.fixedPaths(), Servers: o.Servers,
	})
	s.fixed = s.newFixedRoutes()
	return s, nil
}

// newConnections makes what serves the connections, each with its handler.
func (s *Server) newConnections() *wire.Connections {
	l := &s.opts.Limits
	return wire.New(wire.Options{
		MaxConnections: l.MaxConnections, MaxPerAddress: l.MaxConnectionsPerAddress,
		HandshakeTimeout: l.HandshakeTimeout, ReadTimeout: l.ReadTimeout,
		IdleTimeout: l.IdleTimeout, WriteTimeout: l.WriteTimeout, HTTP2MaxStreams: l.HTTP2MaxStreams,
		TLS: s.opts.TLS, ClientCAs: s.opts.ClientCAs, Log: s.log,
		NewHandler: func(c *wire.Conn) wire.Handler { return &connection{Conn: c, server: s} },
	})
}

// Serve serves until Shutdown, and returns nil then.
func (s *Server) Serve() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go s.watches.Reauthorize(ctx, s.authGeneration)
	return s.connections.Serve(s.opts.Listener)
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.opts.Listener.Addr() }

// Shutdown ends the server in order: /readyz fails, for ShutdownDelay everything goes on,
// then no connection is let in any more, those that are open end with their next answer or after a while, requests in flight finish and watches end cleanly, but for those
// whose clients have not read what was on its way for five seconds. A client that
// has not sent all of a request gets no more than a second for the rest. When ctx ends, so does the wait:
// Shutdown closes what is left, and returns the context's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	if c := s.opts.FlowControl; c != nil {
		defer context.AfterFunc(ctx, c.Close)() // nobody waits longer than the server does
	}
	select {
	case <-time.After(s.opts.ShutdownDelay):
	case <-ctx.Done():
	}
	err := closeListener(s.opts.Listener)
	s.connections.End()
	select {
	case <-time.After(min(s.opts.ShutdownDelay, maxEnding)):
	case <-ctx.Done():
	}
	s.connections.Close()
	s.watches.Close()
	err = errors.Join(err, s.watches.Wait(ctx), s.connections.Wait(ctx))
	if s.locator != nil {
		s.locator.Close()
	}
	return err
}

// maxEnding is how long connections that are in use may take to end with an answer. There is no such time where there is no
// ShutdownDelay: who asks for none wants the end soon.
const maxEnding = time.Second

// closeListener closes a listener that may have been closed already.
func closeListener(l net.Listener) error {
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
