package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"regexp"
	"time"

	"github.com/troupe-api/troupe/http/aggregation"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// Options configure a Server. Naming, Catalog, Store, Authenticator, Authorizer and Listener are
// required.
type Options struct {
	Naming        *meta.Naming
	Catalog       *catalog.Catalog
	Store         Store
	Authenticator authn.Authenticator
	Authorizer    authz.Authorizer
	// AuthGeneration changes when a decision of Authenticator or Authorizer may have changed for a
	// reason other than time, so that watches are rechecked; nil: never.
	AuthGeneration func() uint64
	// CatchUp waits until everything that other servers have acknowledged is applied here, and
	// returns false if that is unknown. No request is refused for what this server does not know
	// yet. nil: there are no other servers.
	CatchUp func(ctx context.Context) bool
	// Audit records requests; may be nil.
	Audit *audit.Auditor
	// Admission changes or refuses writes; may be nil.
	Admission *admission.Chain
	// Listener is owned by the server from New on. With TLS set it serves TLS.
	Listener net.Listener
	TLS      *tls.Config
	// ClientCAs returns the authorities named in requests for client certificates; nil: none. A
	// change is a new pool.
	ClientCAs func() *x509.CertPool
	// StrictTransportSecurity is the header Strict-Transport-Security of every response; "": none.
	StrictTransportSecurity string
	// AllowedOrigins are the origins whose pages may read responses (CORS).
	AllowedOrigins []*regexp.Regexp
	// ExternalAddress is the server's address for others, as in "192.0.2.1:6443".
	ExternalAddress string
	// Version is the daemon's own version, as in "0.1.0".
	Version string
	// GitVersion is the version that /version reports; "": GitVersion(Version).
	GitVersion string
	Limits     Limits
	// FlowControl decides which requests wait; may be nil. The limits of requests in flight are
	// then an outer limit.
	FlowControl *flowcontrol.Controller
	Logger      *slog.Logger
	// WriteMetrics, if set, writes additional metrics.
	WriteMetrics func(io.Writer)
	// MemoryMonitor reports available memory; nil: always sufficient.
	MemoryMonitor MemoryMonitor
	// Checks are additional checks of /readyz, /livez and /healthz.
	Checks []Check
	// ExtraRoutes are additional fixed paths, as in "/backup".
	ExtraRoutes map[string]ExtraRoute
	// Servers serve aggregated versions; may be nil.
	Servers *aggregation.Servers
	// Operations handle creates that store nothing, by "group/version/resource" or
	// "group/version/resource/subresource" in platform form.
	Operations map[string]Operation
	// Readers handle reads of kinds that are not stored, by "group/version/resource" in platform
	// form.
	Readers map[string]Reader
	// Members reads the cluster for requests to Pods, Services and Nodes; nil: these get 503.
	Members policy.Objects
	// Kubelets configures connections to kubelets.
	Kubelets KubeletOptions
	// CBOR enables CBOR.
	CBOR bool
	// DisableCompression sends responses uncompressed. DisableListChunking ignores the limit of
	// lists. DisableWatchList refuses watches that request initial events.
	DisableCompression, DisableListChunking, DisableWatchList bool
	// StatusPage enables /statusz. Flags, if set, returns the flags by name for /flagz.
	StatusPage bool
	Flags      func() map[string]string
	// Console enables the web console at /console/; may be nil.
	Console *ConsoleOptions
	// Profiling enables /debug/pprof/, authorized like any non-resource path.
	Profiling bool
	// ShutdownDelay is how long /readyz fails before connections are refused.
	ShutdownDelay time.Duration
}

// Limits limit clients. Zero fields get the defaults in brackets.
type Limits struct {
	RequestTimeout              time.Duration // except for watches [60 s]
	MaxRequestsInFlight         int           // reads [400]
	MaxMutatingRequestsInFlight int           // [200]
	MaxWatches                  int           // open at a time [100000]
	MaxRequestBodyBytes         int           // bytes [3 MiB]
	MaxTotalBodyBytes           int           // bytes of all bodies at a time [64 MiB]
	MaxConnections              int           // open [16384]
	// HTTP2MaxStreams is the number of concurrent requests on an HTTP/2 connection; 0 disables
	// HTTP/2.
	HTTP2MaxStreams int
	// MaxResponseBytes limits the memory of all large responses together, in bytes, besides the
	// objects of the store [64 MiB].
	MaxResponseBytes int
	// MinRequestTimeout is the minimum lifetime of a watch without a timeout [1800 s]. The actual
	// one is up to twice that, and so is the maximum requested timeout.
	MinRequestTimeout time.Duration
	// HandshakeTimeout limits the TLS handshake [10 s], ReadTimeout the arrival of a request [30
	// s], IdleTimeout the time between requests [120 s], WriteTimeout one write to a client [30 s].
	HandshakeTimeout, ReadTimeout, IdleTimeout, WriteTimeout time.Duration
}

func (l *Limits) setDefaults() {
	setDefault(&l.RequestTimeout, time.Minute)
	setDefault(&l.MaxRequestsInFlight, 400)
	setDefault(&l.MaxMutatingRequestsInFlight, 200)
	setDefault(&l.MaxWatches, 100_000)
	setDefault(&l.MaxRequestBodyBytes, 3<<20)
	setDefault(&l.MaxTotalBodyBytes, 64<<20)
	setDefault(&l.MaxConnections, 16384)
	setDefault(&l.MaxResponseBytes, 64<<20)
	setDefault(&l.MinRequestTimeout, 30*time.Minute)
	setDefault(&l.HandshakeTimeout, 10*time.Second)
	setDefault(&l.ReadTimeout, 30*time.Second)
	setDefault(&l.IdleTimeout, 2*time.Minute)
	setDefault(&l.WriteTimeout, 30*time.Second)
}

func setDefault[T int | time.Duration](p *T, v T) {
	if *p == 0 {
		*p = v
	}
}

func (o *Options) validate() error {
	var faults []error
	require := func(ok bool, name string) {
		if !ok {
			faults = append(faults, errors.New("option "+name+" is missing"))
		}
	}
	require(o.Naming != nil, "Naming")
	require(o.Catalog != nil, "Catalog")
	require(o.Store != nil, "Store")
	require(o.Authenticator != nil, "Authenticator")
	require(o.Authorizer != nil, "Authorizer")
	require(o.Listener != nil, "Listener")
	return errors.Join(faults...)
}
