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

	"go.opentelemetry.io/otel/trace"

	"github.com/troupe-api/troupe/http/aggregation"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/faultinjection"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// Options configures a Server. Naming, Catalog, Store, Authenticator, Authorizer and Listener are
// required.
type Options struct {
	Naming        *meta.Naming
	Catalog       *catalog.Catalog
	Store         Store
	Authenticator authn.Authenticator
	Authorizer    authz.Authorizer
	// AuthGeneration returns a number that changes whenever anything except the passage of time may
	// change an authentication or authorization decision. Each change causes a recheck of the
	// watches. If it is nil, watches are rechecked only when credentials expire.
	AuthGeneration func() uint64
	// CatchUp blocks until this server has applied all writes that other servers have acknowledged.
	// It returns false if the store cannot confirm this. It is called before a request is rejected,
	// because the reason may be outdated. Without other servers, it is nil.
	CatchUp func(ctx context.Context) bool
	// Audit records requests. It may be nil.
	Audit *audit.Auditor
	// Admission mutates or rejects writes. It may be nil.
	Admission *admission.Chain
	// Listener accepts the connections. After New, the server owns it. If TLS is set, all
	// connections use TLS.
	Listener net.Listener
	TLS      *tls.Config
	// ClientCAs returns the CAs that a handshake announces in its client certificate request. If it
	// is nil, no CAs are announced. When the CAs change, it must return a new pool.
	ClientCAs func() *x509.CertPool
	// StrictTransportSecurity is the Strict-Transport-Security header of every response, if not
	// empty.
	StrictTransportSecurity string
	// AllowedOrigins matches the origins whose pages may read responses (CORS).
	AllowedOrigins []*regexp.Regexp
	// ExternalAddress is the address at which clients reach the server, such as "192.0.2.1:6443".
	ExternalAddress string
	// Version is the daemon's own version, such as "0.1.0".
	Version string
	// GitVersion is the version that /version reports. The default is GitVersion(Version).
	GitVersion string
	Limits     Limits
	// FlowControl decides which requests wait for seats. If set, the in-flight limits apply to the
	// sum of reads and writes. It may be nil.
	FlowControl *flowcontrol.Controller
	Logger      *slog.Logger
	// TracerProvider traces requests. It may be nil.
	TracerProvider trace.TracerProvider
	// WriteMetrics, if set, writes additional metrics.
	WriteMetrics func(io.Writer)
	// MemoryMonitor reports the available memory. nil means unlimited.
	MemoryMonitor MemoryMonitor
	// Checks adds checks to /readyz, /livez and /healthz.
	Checks []Check
	// ExtraRoutes adds fixed paths, such as "/backup".
	ExtraRoutes map[string]ExtraRoute
	// Servers holds the aggregated servers. It may be nil.
	Servers *aggregation.Servers
	// Operations handles creates that do not store their bodies. Its keys are
	// "group/version/resource" or "group/version/resource/subresource" in platform form.
	Operations map[string]Operation
	// Readers handles reads of kinds that are not stored. Its keys are "group/version/resource" in
	// platform form.
	Readers map[string]Reader
	// Members reads Pods, Services and Nodes for requests that connect to them. If nil, these get a
	// 503.
	Members policy.Objects
	// Kubelets configures connections to kubelets.
	Kubelets KubeletOptions
	// DisableConstrainedImpersonation allows impersonation only by the verb impersonate.
	DisableConstrainedImpersonation bool
	// CBOR enables the CBOR encoding.
	CBOR bool
	// DisableCompression disables gzip for responses. DisableListChunking ignores list limits.
	// DisableWatchList rejects watches that request initial events.
	DisableCompression, DisableListChunking, DisableWatchList bool
	// StatusPage enables /statusz. Flags, if set, enables /flagz and returns the flags by name.
	StatusPage bool
	Flags      func() map[string]string
	// Console enables the web console at /console/. It may be nil.
	Console *ConsoleOptions
	// Profiling enables /debug/pprof/, authorized like any non-resource path.
	Profiling bool
	// Faults injects faults for tests, and enables /debug/faults. It may be nil.
	Faults *faultinjection.Injector
	// ShutdownDelay is how long /readyz fails before the server stops accepting connections.
	ShutdownDelay time.Duration
}

// Limits holds the limits for clients. The brackets contain the default for a zero field.
type Limits struct {
	RequestTimeout              time.Duration // except for watches [60 s]
	MaxRequestsInFlight         int           // reads [400]
	MaxMutatingRequestsInFlight int           // [200]
	MaxWatches                  int           // open at a time [100000]
	MaxRequestBodyBytes         int           // bytes [3 MiB]
	MaxTotalBodyBytes           int           // bytes of all bodies at a time [64 MiB]
	MaxConnections              int           // open [16384]
	// HTTP2MaxStreams is the maximum number of concurrent requests on an HTTP/2 connection. 0
	// disables HTTP/2.
	HTTP2MaxStreams int
	// MaxResponseBytes limits the memory of all large responses together, in bytes, without the
	// stored objects [64 MiB].
	MaxResponseBytes int
	// MinRequestTimeout is the minimum duration of a watch without a timeout [1800 s]. The actual
	// duration is random, up to twice the minimum. Clients may not request a longer timeout.
	MinRequestTimeout time.Duration
	// HandshakeTimeout limits a TLS handshake [10 s], and ReadTimeout the arrival of a request [30
	// s]. IdleTimeout limits the time between requests [120 s], and WriteTimeout one write [30 s].
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
