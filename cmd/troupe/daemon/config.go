package daemon

import (
	"path/filepath"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/persist"
)

// A Config holds every setting of the daemon. Its JSON names are the keys of the configuration file, which
// docs/configuration.md explains one by one. It is a plain value: it is copied into the Daemon, and
// changing it later has no effect.
type Config struct {
	// DataDir is the directory of everything that is kept.
	DataDir string `json:"dataDir"`
	// Ephemeral keeps everything in memory, nothing in DataDir: all is gone when the daemon ends.
	Ephemeral bool `json:"ephemeral"`
	// Kubeconfig is the file of the administrator's client configuration; "" is admin.kubeconfig in DataDir or, if nothing
	// is kept there, none.
	Kubeconfig string `json:"kubeconfig"`
	// AcceptDataLoss opens a directory from which something is missing.
	AcceptDataLoss bool `json:"acceptDataLoss"`
	// Naming is the naming profile: "platform" or the one of existing clients.
	Naming string `json:"naming"`
	// GitVersion is the version that /version reports; "" is GitVersion().
	GitVersion string `json:"-"`

	// Etcd is where the state is kept, if not in the data directory.
	Etcd            Etcd            `json:"etcd"`
	Serving         Serving         `json:"serving"`
	API             API             `json:"api"`
	Controllers     Controllers     `json:"controllers"`
	Namespaces      Namespaces      `json:"namespaces"`
	Services        Services        `json:"services"`
	Nodes           Nodes           `json:"nodes"`
	Autoscaling     Autoscaling     `json:"autoscaling"`
	Kubelets        Kubelets        `json:"kubelets"`
	TLS             TLS             `json:"tls"`
	Authentication  Authentication  `json:"authentication"`
	ServiceAccounts ServiceAccounts `json:"serviceAccounts"`
	BootstrapTokens BootstrapTokens `json:"bootstrapTokens"`
	// CertificateSigning is which CAs sign for others.
	CertificateSigning CertificateSigning `json:"certificateSigning"`
	Authorization      Authorization      `json:"authorization"`
	Admission          Admission          `json:"admission"`
	Aggregation        Aggregation        `json:"aggregation"`
	Audit              Audit              `json:"audit"`
	Logging            Logging            `json:"logging"`

	Actors  Actors  `json:"actors"`
	Commits Commits `json:"commits"`
	Journal Journal `json:"journal"`
	// Encryption is with what objects are encrypted on the disk.
	Encryption Encryption `json:"encryption"`
	Snapshots  Snapshots  `json:"snapshots"`
	Watches    Watches    `json:"watches"`
}

// Serving is where and how requests are accepted. The bounds of memory (MaxBodiesBytes, MaxResponseBytes)
// are those of all requests together, so that no number of clients exceeds them.
type Serving struct {
	BindAddress                 string   `json:"bindAddress"`
	SecurePort                  int      `json:"securePort"`        // 0 picks a free port
	AdvertiseAddress            string   `json:"advertiseAddress"`  // at which others reach the daemon; "" finds one
	RequestTimeout              Duration `json:"requestTimeout"`    // of all requests but watches
	MinRequestTimeout           int      `json:"minRequestTimeout"` // seconds, of watches
	MaxRequestsInFlight         int      `json:"maxRequestsInFlight"`
	MaxMutatingRequestsInFlight int      `json:"maxMutatingRequestsInFlight"`
	PriorityAndFairness         bool     `json:"enablePriorityAndFairness"` // flow schemas and priority levels decide which requests wait
	MaxWatches                  int      `json:"maxWatches"`                // that are open
	MaxBodyBytes                Bytes    `json:"maxBodyBytes"`
	MaxBodiesBytes              Bytes    `json:"maxBodiesBytes"`           // of all requests together
	MaxConnections              int      `json:"maxConnections"`           // 0 is what the limit of descriptors allows
	MaxConnectionsPerAddress    int      `json:"maxConnectionsPerAddress"` // 0 is half of them
	DisableHTTP2                bool     `json:"disableHTTP2"`             // clients are offered HTTP/1.1 only
	HTTP2MaxStreams             int      `json:"http2MaxStreams"`          // requests under way on one connection with HTTP/2; 0 is 100
	MaxResponseBytes            Bytes    `json:"maxResponseBytes"`         // of answers that are being written
	MaxRequestBytes             Bytes    `json:"maxRequestBytes"`          // of the data of one object
	ShutdownDelay               Duration `json:"shutdownDelay"`            // between failing readiness and closing the port
	Profiling                   bool     `json:"profiling"`                // serves /debug/pprof/
	Console                     bool     `json:"console"`                  // serves pages for browsers at /console/
	// CORSAllowedOrigins are expressions of origins whose pages in browsers may read answers.
	CORSAllowedOrigins []string `json:"corsAllowedOrigins"`
}

// API is what is served. An API that is switched off keeps its stored objects.
type API struct {
	// RuntimeConfig switches versions and resources off and on.
	RuntimeConfig Switches `json:"runtimeConfig"`
	// FeatureGates switch single features.
	FeatureGates Switches `json:"featureGates"`
	EventTTL     Duration `json:"eventTTL"` // how long an Event is kept; 0 is for ever
}

// Services is what the Services of the cluster share. Several daemons of one cluster network must not share
// ranges.
type Services struct {
	ClusterIPRange string `json:"clusterIPRange"` // or two, of both families, with a comma
	NodePortRange  string `json:"nodePortRange"`
}

// Logging is the form of the log on standard error.
type Logging struct {
	Format    string `json:"format"`    // text or json
	Verbosity int    `json:"verbosity"` // 0 is info; from 2 on debug
}

// Actors is how owners of objects and watches are run and supervised. What each setting means, and when to
// change it, is in docs/configuration.md.
type Actors struct {
	Strategy       string   `json:"strategy"` // restart, resume or stop
	MaxRestarts    int      `json:"maxRestarts"`
	RestartWindow  Duration `json:"restartWindow"`
	RestartBackoff Duration `json:"restartBackoff"`
	MailboxSize    int      `json:"mailboxSize"`
	IdleTime       Duration `json:"idleTime"`
	Throughput     int      `json:"throughput"`
}

// Commits is how changes are gathered into batches. Larger batches mean fewer syncs of the disk, and a
// longer wait for each writer.
type Commits struct {
	QueueSize int `json:"queueSize"`
	BatchSize int `json:"batchSize"`
}

// Journal is how batches become durable. With sync none, a crash of the machine, not of the process, may
// lose the last writes that were acknowledged.
type Journal struct {
	Sync         string `json:"sync"` // always or none
	SegmentBytes Bytes  `json:"segmentBytes"`
	ArchiveBytes Bytes  `json:"archiveBytes"` // 0 keeps no archive
}

// Snapshots is when the state is written as a whole. A larger amount of journal between two snapshots
// writes less and makes the next start longer.
type Snapshots struct {
	JournalBytes Bytes `json:"journalBytes"`
}

// Watches is how far a watch can go back. A client that asks for a version which the history does not reach
// back to has to list anew.
type Watches struct {
	HistoryTime    Duration `json:"historyTime"`
	HistoryBytes   Bytes    `json:"historyBytes"`
	BookmarkPeriod Duration `json:"bookmarkPeriod"`
}

// Default is what the daemon runs with if nothing else is said. The bounds of requests are those of the API
// server that clients know; those of the store come from package actors, so that each has one place.
func Default() Config {
	t := actors.DefaultTuning()
	return Config{
		DataDir: "troupe-data",
		Naming:  "platform",
		Etcd:    defaultEtcd(),
		Serving: Serving{
			BindAddress:                 "127.0.0.1",
			SecurePort:                  6443,
			RequestTimeout:              Duration(time.Minute),
			MinRequestTimeout:           1800,
			MaxRequestsInFlight:         400,
			MaxMutatingRequestsInFlight: 200,
			PriorityAndFairness:         true,
			MaxWatches:                  100_000,
			DisableHTTP2:                true,
			MaxBodyBytes:                3 << 20,
			MaxBodiesBytes:              64 << 20,
			MaxResponseBytes:            64 << 20,
			MaxRequestBytes:             Bytes(t.ObjectBytes),
			Profiling:                   true,
			CORSAllowedOrigins:          []string{},
		},
		API:                API{RuntimeConfig: Switches{}, FeatureGates: Switches{}, EventTTL: Duration(time.Hour)},
		Admission:          Admission{DefaultNotReadyTolerationSeconds: 300, DefaultUnreachableTolerationSeconds: 300},
		Aggregation:        Aggregation{EndpointRouting: true, RejectForwardingRedirects: true, ServiceResolver: []string{}},
		Controllers:        "*",
		Services:           Services{ClusterIPRange: "10.0.0.0/24", NodePortRange: "30000-32767"},
		Nodes:              defaultNodes(),
		Autoscaling:        defaultAutoscaling(),
		Kubelets:           defaultKubelets(),
		TLS:                defaultTLS(),
		Authentication:     defaultAuthentication(),
		ServiceAccounts:    defaultServiceAccounts(),
		CertificateSigning: defaultCertificateSigning(),
		Authorization:      defaultAuthorization(),
		Audit:              defaultAudit(),
		Logging:            Logging{Format: "text"},
		Actors: Actors{
			Strategy:       string(t.Strategy),
			MaxRestarts:    t.MaxRestarts,
			RestartWindow:  Duration(t.RestartWindow),
			RestartBackoff: Duration(t.RestartBackoff),
			MailboxSize:    t.MailboxSize,
			IdleTime:       Duration(t.IdleTime),
			Throughput:     t.Throughput,
		},
		Commits:    Commits{QueueSize: t.CommitQueue, BatchSize: t.BatchSize},
		Journal:    Journal{Sync: string(persist.SyncAlways), SegmentBytes: 64 << 20},
		Encryption: defaultEncryption(),
		Snapshots:  Snapshots{JournalBytes: Bytes(t.SnapshotBytes)},
		Watches: Watches{
			HistoryTime:    Duration(t.HistoryTime),
			HistoryBytes:   Bytes(t.HistoryBytes),
			BookmarkPeriod: Duration(t.BookmarkPeriod),
		},
	}
}

// defaultCertDir is the directory of certificates in the data directory.
const defaultCertDir = "pki"

// certDir is where the daemon's own certificates are; "" if they are in memory only.
func (c Config) certDir() string {
	switch {
	case c.TLS.CertDir != "":
		return c.TLS.CertDir
	case c.Ephemeral:
		return ""
	}
	return filepath.Join(c.DataDir, defaultCertDir)
}

// kubeconfig is where the administrator's client configuration is; "" if it is in no file.
func (c Config) kubeconfig() string {
	if c.Kubeconfig != "" || c.Ephemeral {
		return c.Kubeconfig
	}
	return filepath.Join(c.DataDir, "admin.kubeconfig")
}

// limits are what package http takes. limits are what package http takes, in its units.
func (s Serving) limits() http.Limits {
	return http.Limits{
		RequestTimeout:              time.Duration(s.RequestTimeout),
		MaxRequestsInFlight:         s.MaxRequestsInFlight,
		MaxMutatingRequestsInFlight: s.MaxMutatingRequestsInFlight,
		MaxWatches:                  s.MaxWatches,
		MaxRequestBodyBytes:         int(s.MaxBodyBytes),
		MaxTotalBodyBytes:           int(s.MaxBodiesBytes),
		MaxConnections:              s.connectionLimit(),
		MaxConnectionsPerAddress:    s.MaxConnectionsPerAddress,
		HTTP2MaxStreams:             s.http2Streams(),
		MaxResponseBytes:            int(s.MaxResponseBytes),
		MinRequestTimeout:           time.Duration(s.MinRequestTimeout) * time.Second,
	}
}

// tuning is what package actors takes.
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
