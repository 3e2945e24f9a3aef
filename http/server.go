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
	"github.com/troupe-api/troupe/http/internal/requestbody"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/internal/metrics"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/impersonation"
)

// A Server serves the API on one listener.
type Server struct {
	opts         Options
	names        negotiate.Names
	log          *slog.Logger
	impersonator impersonation.Impersonator
	bodies       requestbody.Decoder
	encoder      represent.Encoder
	locator      *connect.Locator // nil: no proxying to members of a cluster

	// For routing (route.go).
	fixed      fixedRoutes
	operations map[operationKey]Operation
	readers    map[operationKey]Reader
	documents  *discovery.Cache
	version    []byte // the document at /version

	// For limits (flowcontrol.go, limits.go, memory.go).
	flowHeaders flowHeaders
	ledger      *limits.Ledger
	reserves    reserves

	// These fields change while the server runs.
	connections *wire.Connections
	watches     *stream.Registry
	draining    atomic.Bool // /readyz fails

	// For reporting (metrics.go, health.go, zpages.go).
	started        time.Time
	healthMetrics  healthMetrics
	requestMetrics *requestMetrics
	memoryRefused  metrics.Counter
}

// New returns a server. It handles no requests until Serve is called. After New, all fields are
// read-only, except those that are safe for concurrent use.
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
		impersonator:   impersonation.Impersonator{Naming: o.Naming, Constrained: !o.DisableConstrainedImpersonation},
	}
	if o.CBOR {
		s.names.AddCBOR()
	}
	if o.TracerProvider != nil {
		s.opts.Store = tracedStore{o.Store, o.TracerProvider.Tracer(policy.TracerName)}
	}
	s.bodies = requestbody.Decoder{Names: &s.names, MaxBytes: o.Limits.MaxRequestBodyBytes}
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
	s.flowHeaders = flowHeaders{o.Naming.Translate("X-Platform-Pf-Flowschema-Uid"), o.Naming.Translate("X-Platform-Pf-Prioritylevel-Uid")}
	s.reserves, s.ledger = newReserves(o.Naming), limits.NewLedger(o.capacities())
	if o.Members != nil {
		s.locator = s.newLocator(o.Members, o.Kubelets)
	}
	s.connections = s.newConnections()
	s.documents = discovery.NewCache(discovery.Options{
		Naming: o.Naming, Catalog: o.Catalog, ExternalAddress: o.ExternalAddress,
		PatchTypes: s.names.PatchTypes, CBOR: o.CBOR, FixedPaths: s.fixedPaths(), Servers: o.Servers,
	})
	s.fixed = s.newFixedRoutes()
	return s, nil
}

func (s *Server) newConnections() *wire.Connections {
	l := &s.opts.Limits
	return wire.New(wire.Options{
		Ledger: s.ledger, MaxConnections: l.MaxConnections,
		HandshakeTimeout: l.HandshakeTimeout, ReadTimeout: l.ReadTimeout,
		IdleTimeout: l.IdleTimeout, WriteTimeout: l.WriteTimeout, HTTP2MaxStreams: l.HTTP2MaxStreams,
		TLS: s.opts.TLS, ClientCAs: s.opts.ClientCAs, Log: s.log,
		NewHandler: func(c *wire.Conn) wire.Handler { return &connection{Conn: c, server: s} },
	})
}

// Serve serves until Shutdown, and then returns nil.
func (s *Server) Serve() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go s.watches.Reauthorize(ctx, s.authGeneration)
	return s.connections.Serve(s.opts.Listener)
}

// Addr returns the address on which the server listens.
func (s *Server) Addr() net.Addr { return s.opts.Listener.Addr() }

// Shutdown ends the server gracefully. /readyz fails immediately, but requests are still served for
// ShutdownDelay. Then the listener closes, and each connection closes after its next response. Idle
// connections close after at most maxEnding.
//
// In-flight requests complete, and clients get one second to complete a request that they are
// sending. Watches end properly, unless the client does not read for five seconds. When ctx ends,
// Shutdown closes everything and returns ctx.Err().
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	if c := s.opts.FlowControl; c != nil {
		defer context.AfterFunc(ctx, c.Close)() // no request waits longer than the server
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

// Shutdown waits up to maxEnding, or ShutdownDelay if shorter, for connections to close after their
// next response.
const maxEnding = time.Second

func closeListener(l net.Listener) error {
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
