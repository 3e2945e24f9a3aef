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

// Options say how a Server works. Naming, Catalog, Store, Authenticator, Authorizer and
// Listener are required.
type Options struct {
	Naming        *meta.Naming
	Catalog       *catalog.Catalog
	Store         Store
	Authenticator authn.Authenticator
	Authorizer    authz.Authorizer
	// AuthGeneration changes when an answer of Authenticator or Authorizer may have become another
	// one for any other reason than time. It tells which watches may have to end; nil stands for
	// one that never changes.
	AuthGeneration func() uint64
	// CatchUp waits until what other daemons were told before is in effect here, and answers false if that cannot be found out.
	// Nobody is refused for what this daemon does not know yet. nil: there are no other daemons.
	CatchUp func(ctx context.Context) bool
	// Audit records requests; nil: nothing is recorded.
	Audit *audit.Auditor
	// Admission changes or refuses what is written; nil: there is none.
	Admission *admission.Chain
	// Listener is owned by the server from New on. With TLS set it is served over TLS.
	Listener net.Listener
	TLS      *tls.Config
	// ClientCAs returns the authorities that a handshake names when it asks for a client certificate; nil names none.
	// A change of them is another pool.
	ClientCAs func() *x509.CertPool
	// StrictTransportSecurity is the header Strict-Transport-Security of every answer; "": none.
	StrictTransportSecurity string
	// AllowedOrigins are the origins whose pages may read answers (CORS); none: no page may.
	AllowedOrigins []*regexp.Regexp
	// ExternalAddress is where others reach the server, as in "192.0.2.1:6443".
	ExternalAddress string
	// Version is the daemon's own version, as in "0.1.0".
	Version string
	// GitVersion is the version that /version reports; "" is GitVersion(Version).
	GitVersion string
	Limits     Limits
	// FlowControl decides which requests wait; nil: none does. The limits of requests in flight then are the outer bound of
	// what it lets in.
	FlowControl *flowcontrol.Controller
	Logger      *slog.Logger
	// WriteMetrics, if set, writes more metrics after the server's own.
	WriteMetrics func(io.Writer)
	// MemoryMonitor tells how much memory there is; nil: enough for all that the limits allow.
	MemoryMonitor MemoryMonitor
	// Checks are what /readyz, /livez and /healthz ask besides ping.
	Checks []Check
	// ExtraRoutes are further fixed paths, as in "/backup".
	ExtraRoutes map[string]ExtraRoute
	// Servers serve other versions of groups than this server; nil: there are none.
	Servers *aggregation.Servers
	// Operations answer creates of which nothing is stored, by "group/version/resource" or
	// "group/version/resource/sub-resource" in platform form.
	Operations map[string]Operation
	// Readers answer reads of kinds of which nothing is stored, by "group/version/resource" in platform form.
	Readers map[string]Reader
	// Members is how the cluster is read for requests that go on to Pods, Services and Nodes; nil: they are answered 503.
	Members policy.Objects
	// Kubelets say how the agents of Nodes are reached.
	Kubelets KubeletOptions
	// CBOR serves CBOR beside the other formats.
	CBOR bool
	// DisableCompression sends all answers as they are, DisableListChunking answers lists whole, whatever limit they
	// have, and DisableWatchList refuses watches that ask for their initial events.
	DisableCompression, DisableListChunking, DisableWatchList bool
	// StatusPage serves /statusz, and Flags /flagz, with what it returns by name; nil: there is no such page.
	StatusPage bool
	Flags      func() map[string]string
	// Console serves pages for browsers at /console/; nil: there are none.
	Console *ConsoleOptions
	// Profiling serves /debug/pprof/, authorized like any path that is no resource.
	Profiling bool
	// ShutdownDelay is how long /readyz fails before connections are refused.
	ShutdownDelay time.Duration
}

// Limits bound what clients can ask for. Zero fields get the defaults in brackets.
type Limits struct {
	RequestTimeout              time.Duration // of all but watches [60 s]
	MaxRequestsInFlight         int           // that read [400]
	MaxMutatingRequestsInFlight int           // [200]
	MaxWatches                  int           // that are open [100000]
	MaxRequestBodyBytes         int           // bytes [3 MiB]
	MaxTotalBodyBytes           int           // bytes of all bodies that are held at a time [64 MiB]
	// MaxConnections are those that are open [16384], MaxConnectionsPerAddress those of one
	// client that is not on this machine [half of them].
	MaxConnections, MaxConnectionsPerAddress int
	// HTTP2MaxStreams is how many requests a client may have under way on a connection with HTTP/2. 0: HTTP/2 is not spoken.
	HTTP2MaxStreams int
	// MaxResponseBytes is what large answers may take altogether while they are written, in
	// bytes, beside the objects of the store [64 MiB].
	MaxResponseBytes int
	// MinRequestTimeout is the least life of a watch that asks for none [1800 s]; the
	// actual one is up to twice that, and so is the longest that a watch can ask for.
	MinRequestTimeout time.Duration
	// HandshakeTimeout is for the handshake of TLS [10 s], ReadTimeout for one whole
	// request [30 s], IdleTimeout for the time between two [120 s], WriteTimeout for one
	// write to a client [30 s].
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
	setDefault(&l.MaxConnectionsPerAddress, l.MaxConnections/2)
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

// All that is missing is named at once, since whoever puts a server together would otherwise find it out one start at
// a time.
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
