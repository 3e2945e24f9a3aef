package daemon

import (
	"path/filepath"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/http"
)

// A Config contains all settings of the daemon. Field tags are the names of the settings in
// settings.ini. New copies it.
type Config struct {
	DataDir        string `flag:"data-dir"`
	Ephemeral      bool   `flag:"ephemeral"`
	From           string `flag:"from"`
	Kubeconfig     string `flag:"write-kubeconfig"`
	AcceptDataLoss bool   `flag:"accept-data-loss"`
	Naming         string `flag:"naming"`
	// GitVersion is the version in the /version response. It defaults to GitVersion().
	GitVersion string

	Etcd               Etcd
	Serving            Serving
	API                API
	Controllers        Controllers `flag:"controllers"`
	Namespaces         Namespaces
	Services           Services
	Nodes              Nodes
	Autoscaling        Autoscaling
	Kubelets           Kubelets
	TLS                TLS
	Authentication     Authentication
	ServiceAccounts    ServiceAccounts
	BootstrapTokens    BootstrapTokens
	CertificateSigning CertificateSigning
	Authorization      Authorization
	Admission          Admission
	Aggregation        Aggregation
	Audit              Audit
	Logging            Logging
	Actors             Actors
	Commits            Commits
	Journal            Journal
	Encryption         Encryption
	Snapshots          Snapshots
	Watches            Watches

	// TracingConfigFile is "" if requests are not traced.
	TracingConfigFile string `flag:"tracing-config-file"`

	renamed    [][2]string // keys of earlier releases found in the file, with their new names
	deprecated [][2]string // deprecated settings found in the file or flags, with the replacement
}

// Serving configures the listener and the request limits. Memory limits apply to all requests
// together.
type Serving struct {
	BindAddress                 string   `flag:"bind-address"`
	SecurePort                  int      `flag:"secure-port"`
	AdvertiseAddress            string   `flag:"advertise-address"`
	ExternalHostname            string   `flag:"external-hostname"`
	RequestTimeout              Duration `flag:"request-timeout"`
	MinRequestTimeout           int      `flag:"min-request-timeout"` // seconds
	MaxRequestsInFlight         int      `flag:"max-requests-inflight"`
	MaxMutatingRequestsInFlight int      `flag:"max-mutating-requests-inflight"`
	PriorityAndFairness         bool     `flag:"enable-priority-and-fairness"`
	MaxWatches                  int      `flag:"max-watches"`
	MaxBodyBytes                Bytes    `flag:"max-body-bytes"`
	MaxBodiesBytes              Bytes    `flag:"max-bodies-bytes"`
	MaxConnections              int      `flag:"max-connections"`
	MaxConnectionsPerAddress    int      `flag:"max-connections-per-address"`
	DisableHTTP2                bool     `flag:"disable-http2-serving"`
	HTTP2MaxStreams             int      `flag:"http2-max-streams-per-connection"`
	MaxResponseBytes            Bytes    `flag:"max-response-bytes"`
	MaxRequestBytes             Bytes    `flag:"max-request-bytes"`
	ShutdownDelay               Duration `flag:"shutdown-delay-duration"`
	Profiling                   bool     `flag:"profiling"`
	Console                     bool     `flag:"console"`
	FaultInjection              bool     `flag:"fault-injection"`
	CORSAllowedOrigins          []string `flag:"cors-allowed-origins"`
}

// API configures the served APIs. The stored objects of a disabled API are kept.
type API struct {
	// Kinds is "all" or "minimal", a preset of RuntimeConfig and the controllers.
	Kinds string `flag:"kinds"`
	// Definitions lists files and directories of CustomResourceDefinitions to apply.
	Definitions   []string `flag:"crds"`
	RuntimeConfig Switches `flag:"runtime-config"`
	FeatureGates  Switches `flag:"feature-gates"`
	EventTTL      Duration `flag:"event-ttl"`
}

// Services configures the IP address and port ranges of Services.
type Services struct {
	ClusterIPRange string `flag:"service-cluster-ip-range"`
	NodePortRange  string `flag:"service-node-port-range"`
}

// Logging configures the log on standard error.
type Logging struct {
	Format    string `flag:"logging-format"`
	Verbosity int    `flag:"v"`
}

// Actors configures how object and watch actors run, and how panics are handled.
type Actors struct {
	Strategy       string   `flag:"actor-strategy"`
	MaxRestarts    int      `flag:"actor-max-restarts"`
	RestartWindow  Duration `flag:"actor-restart-window"`
	RestartBackoff Duration `flag:"actor-restart-backoff"`
	MailboxSize    int      `flag:"actor-mailbox-size"`
	IdleTime       Duration `flag:"actor-idle-time"`
	Throughput     int      `flag:"actor-throughput"`
}

// Commits configures how writes are batched.
type Commits struct {
	QueueSize int `flag:"commit-queue-size"`
	BatchSize int `flag:"commit-batch-size"`
}

// Journal configures how batches become durable.
type Journal struct {
	Sync         string `flag:"journal-sync"`
	SegmentBytes Bytes  `flag:"journal-segment-bytes"`
	ArchiveBytes Bytes  `flag:"journal-archive-bytes"`
}

// Snapshots configures when snapshots are written.
type Snapshots struct {
	JournalBytes Bytes `flag:"snapshot-journal-bytes"`
}

// Watches configures the history from which watches resume.
type Watches struct {
	HistoryTime    Duration `flag:"watch-history-time"`
	HistoryBytes   Bytes    `flag:"watch-history-bytes"`
	BookmarkPeriod Duration `flag:"watch-bookmark-period"`
}

const defaultCertDir = "pki"

func (c Config) certDir() string {
	switch {
	case c.TLS.CertDir != "":
		return c.TLS.CertDir
	case c.Ephemeral:
		return ""
	}
	return filepath.Join(c.DataDir, defaultCertDir)
}

func (c Config) kubeconfig() string {
	if c.Kubeconfig != "" || c.Ephemeral {
		return c.Kubeconfig
	}
	return filepath.Join(c.DataDir, "admin.kubeconfig")
}

func (s Serving) limits() http.Limits {
	return http.Limits{
		RequestTimeout:              time.Duration(s.RequestTimeout),
		MaxRequestsInFlight:         s.MaxRequestsInFlight,
		MaxMutatingRequestsInFlight: s.MaxMutatingRequestsInFlight,
		MaxWatches:                  s.MaxWatches,
		MaxRequestBodyBytes:         int(s.MaxBodyBytes),
		MaxTotalBodyBytes:           int(s.MaxBodiesBytes),
		MaxConnections:              s.connectionLimit(),
		HTTP2MaxStreams:             s.http2Streams(),
		MaxResponseBytes:            int(s.MaxResponseBytes),
		MinRequestTimeout:           time.Duration(s.MinRequestTimeout) * time.Second,
	}
}

func (c Config) tuning() actors.Tuning {
	return actors.Tuning{
		Strategy:       actors.Strategy(c.Actors.Strategy),
		MaxRestarts:    c.Actors.MaxRestarts,
		RestartWindow:  time.Duration(c.Actors.RestartWindow),
		RestartBackoff: time.Duration(c.Actors.RestartBackoff),
		MailboxSize:    c.Actors.MailboxSize,
		CommitQueue:    c.Commits.QueueSize,
		IdleTime:       time.Duration(c.Actors.IdleTime),
		Throughput:     c.Actors.Throughput,
		BatchSize:      c.Commits.BatchSize,
		ObjectBytes:    int(c.Serving.MaxRequestBytes),
		HistoryTime:    time.Duration(c.Watches.HistoryTime),
		HistoryBytes:   int64(c.Watches.HistoryBytes),
		SnapshotBytes:  int64(c.Snapshots.JournalBytes),
		BookmarkPeriod: time.Duration(c.Watches.BookmarkPeriod),
	}
}
