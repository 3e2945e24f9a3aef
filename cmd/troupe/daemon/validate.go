package daemon

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Validate reports every fault of the settings at once, each with its key. It reads no file and opens
// nothing, so configurations can be checked anywhere.
func (c Config) Validate() error {
	var f faults
	f.check(c.DataDir != "", "dataDir", "must not be empty")
	if _, err := meta.ParseNaming(c.Naming); err != nil {
		f.check(false, "naming", err.Error())
	}
	c.Etcd.validate(&f, c)
	c.Serving.validate(&f)
	c.Controllers.validate(&f)
	c.Namespaces.validate(&f)
	c.Services.validate(&f)
	c.Nodes.validate(&f)
	c.Autoscaling.validate(&f)
	c.Kubelets.validate(&f)
	c.TLS.validate(&f)
	c.Authentication.validate(&f)
	c.ServiceAccounts.validate(&f)
	c.CertificateSigning.validate(&f)
	c.Authorization.validate(&f)
	c.Admission.validate(&f)
	c.Aggregation.validate(&f)
	c.Audit.validate(&f)
	c.validateFeatures(&f)
	f.check(c.API.EventTTL >= 0, "api.eventTTL", "must not be negative")
	f.oneOf("logging.format", c.Logging.Format, "text", "json")
	f.atLeast("logging.verbosity", int64(c.Logging.Verbosity), 0)
	c.Actors.validate(&f)
	f.atLeast("commits.queueSize", int64(c.Commits.QueueSize), 1)
	f.atLeast("commits.batchSize", int64(c.Commits.BatchSize), 1)
	f.oneOf("journal.sync", c.Journal.Sync, "always", "none")
	f.atLeast("journal.segmentBytes", int64(c.Journal.SegmentBytes), 1<<20)
	f.atLeast("journal.archiveBytes", int64(c.Journal.ArchiveBytes), 0)
	c.Encryption.validate(&f)
	f.atLeast("snapshots.journalBytes", int64(c.Snapshots.JournalBytes), 1<<20)
	f.positive("watches.historyTime", c.Watches.HistoryTime)
	f.atLeast("watches.historyBytes", int64(c.Watches.HistoryBytes), 1)
	f.positive("watches.bookmarkPeriod", c.Watches.BookmarkPeriod)
	return errors.Join(f...)
}

// maxRequestBytes is the most that serving.maxRequestBytes can be. Journal records and the memory for one
// request are planned for objects of this size.
const maxRequestBytes = 4 << 20

// validate checks what the server listens on and the bounds that it serves within. Bounds of memory must leave room for at
// least one request: else every request would be refused.
func (s Serving) validate(f *faults) {
	f.check(net.ParseIP(s.BindAddress) != nil, "serving.bindAddress", fmt.Sprintf("%q is no IP address", s.BindAddress))
	f.check(s.SecurePort >= 0 && s.SecurePort <= 65535, "serving.securePort", fmt.Sprintf("%d is not between 0 and 65535", s.SecurePort))
	f.check(s.AdvertiseAddress == "" || net.ParseIP(s.AdvertiseAddress) != nil, "serving.advertiseAddress", fmt.Sprintf("%q is no IP address", s.AdvertiseAddress))
	f.positive("serving.requestTimeout", s.RequestTimeout)
	f.atLeast("serving.minRequestTimeout", int64(s.MinRequestTimeout), 1)
	f.atLeast("serving.maxRequestsInFlight", int64(s.MaxRequestsInFlight), 1)
	f.atLeast("serving.maxMutatingRequestsInFlight", int64(s.MaxMutatingRequestsInFlight), 1)
	f.atLeast("serving.maxWatches", int64(s.MaxWatches), 1)
	f.atLeast("serving.maxBodyBytes", int64(s.MaxBodyBytes), 1024)
	f.check(s.MaxBodiesBytes >= max(s.MaxBodyBytes, 1024), "serving.maxBodiesBytes", "must be at least serving.maxBodyBytes")
	f.atLeast("serving.maxConnections", int64(s.MaxConnections), 0)
	f.atLeast("serving.maxConnectionsPerAddress", int64(s.MaxConnectionsPerAddress), 0)
	f.check(s.HTTP2MaxStreams >= 0 && s.HTTP2MaxStreams <= maxHTTP2Streams, "serving.http2MaxStreams", fmt.Sprintf("%d is not between 0 and %d", s.HTTP2MaxStreams, maxHTTP2Streams))
	f.atLeast("serving.maxResponseBytes", int64(s.MaxResponseBytes), 1<<20)
	f.check(1024 <= s.MaxRequestBytes && s.MaxRequestBytes <= maxRequestBytes, "serving.maxRequestBytes",
		fmt.Sprintf("%d is not between 1024 and %d", s.MaxRequestBytes, maxRequestBytes))
	f.check(s.ShutdownDelay >= 0, "serving.shutdownDelay", "must not be negative")
	if _, err := parseOrigins(s.CORSAllowedOrigins); err != nil {
		f.check(false, "serving.corsAllowedOrigins", err.Error())
	}
}

// validate parses the ranges as the allocators will.
func (s Services) validate(f *faults) {
	if _, err := allocation.ParseRanges(s.ClusterIPRange); err != nil {
		f.check(false, "services.clusterIPRange", err.Error())
	}
	if _, err := allocation.ParsePortRange(s.NodePortRange); err != nil {
		f.check(false, "services.nodePortRange", err.Error())
	}
}

// validate wants at least 1 wherever 0 would mean that no actor ever makes progress.
func (a Actors) validate(f *faults) {
	f.oneOf("actors.strategy", a.Strategy, "restart", "resume", "stop")
	f.atLeast("actors.maxRestarts", int64(a.MaxRestarts), 0)
	f.positive("actors.restartWindow", a.RestartWindow)
	f.check(a.RestartBackoff >= 0, "actors.restartBackoff", "must not be negative")
	f.atLeast("actors.mailboxSize", int64(a.MailboxSize), 1)
	f.positive("actors.idleTime", a.IdleTime)
	f.atLeast("actors.throughput", int64(a.Throughput), 1)
}

// It gathers errors by the key of the configuration file; where a flag is better known the key names that
// as well.
type faults []error

// check records a fault unless ok. All faults are collected, so that an operator sees them at once.
func (f *faults) check(ok bool, key, fault string) {
	if !ok {
		*f = append(*f, fmt.Errorf("%s: %s", key, fault))
	}
}

// atLeast checks a number or a size against its least value, which is allowed.
func (f *faults) atLeast(key string, value, least int64) {
	f.check(value >= least, key, fmt.Sprintf("%d is less than %d", value, least))
}

// positive checks a time that must pass; tickers and timeouts of 0 are errors.
func (f *faults) positive(key string, d Duration) {
	f.check(d > 0, key, "must be above 0")
}

// oneOf checks a value against all that are allowed, which the error lists.
func (f *faults) oneOf(key, value string, values ...string) {
	f.check(slices.Contains(values, value), key, fmt.Sprintf("%q is none of %s", value, strings.Join(values, ", ")))
}
