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

// Validate reports every fault of the settings at once, each with its key.
func (c Config) Validate() error {
	var f faults
	f.check(c.DataDir != "", "dataDir", "must not be empty")
	if _, err := meta.ParseNaming(c.Naming); err != nil {
		f.check(false, "naming", err.Error())
	}
	c.Serving.validate(&f)
	c.Controllers.validate(&f)
	c.Services.validate(&f)
	c.TLS.validate(&f)
	c.Authentication.validate(&f)
	c.ServiceAccounts.validate(&f)
	c.Authorization.validate(&f)
	c.Admission.validate(&f)
	c.Audit.validate(&f)
	f.check(c.API.EventTTL >= 0, "api.eventTTL", "must not be negative")
	f.oneOf("logging.format", c.Logging.Format, "text", "json")
	f.atLeast("logging.verbosity", int64(c.Logging.Verbosity), 0)
	c.Actors.validate(&f)
	f.atLeast("commits.queueSize", int64(c.Commits.QueueSize), 1)
	f.atLeast("commits.batchSize", int64(c.Commits.BatchSize), 1)
	f.oneOf("journal.sync", c.Journal.Sync, "always", "none")
	f.atLeast("journal.segmentBytes", int64(c.Journal.SegmentBytes), 1<<20)
	f.atLeast("snapshots.journalBytes", int64(c.Snapshots.JournalBytes), 1<<20)
	f.positive("watches.historyTime", c.Watches.HistoryTime)
	f.atLeast("watches.historyBytes", int64(c.Watches.HistoryBytes), 1)
	f.positive("watches.bookmarkPeriod", c.Watches.BookmarkPeriod)
	return errors.Join(f...)
}

// maxRequestBytes is the most that serving.maxRequestBytes can be.
const maxRequestBytes = 4 << 20

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
	f.atLeast("serving.maxResponseBytes", int64(s.MaxResponseBytes), 1<<20)
	f.check(1024 <= s.MaxRequestBytes && s.MaxRequestBytes <= maxRequestBytes, "serving.maxRequestBytes",
		fmt.Sprintf("%d is not between 1024 and %d", s.MaxRequestBytes, maxRequestBytes))
	f.check(s.ShutdownDelay >= 0, "serving.shutdownDelay", "must not be negative")
	if _, err := parseOrigins(s.CORSAllowedOrigins); err != nil {
		f.check(false, "serving.corsAllowedOrigins", err.Error())
	}
}

func (s Services) validate(f *faults) {
	if _, err := allocation.ParseRanges(s.ClusterIPRange); err != nil {
		f.check(false, "services.clusterIPRange", err.Error())
	}
	if _, err := allocation.ParsePortRange(s.NodePortRange); err != nil {
		f.check(false, "services.nodePortRange", err.Error())
	}
}

func (a Actors) validate(f *faults) {
	f.oneOf("actors.strategy", a.Strategy, "restart", "resume", "stop")
	f.atLeast("actors.maxRestarts", int64(a.MaxRestarts), 0)
	f.positive("actors.restartWindow", a.RestartWindow)
	f.check(a.RestartBackoff >= 0, "actors.restartBackoff", "must not be negative")
	f.atLeast("actors.mailboxSize", int64(a.MailboxSize), 1)
	f.positive("actors.idleTime", a.IdleTime)
	f.atLeast("actors.throughput", int64(a.Throughput), 1)
}

type faults []error

func (f *faults) check(ok bool, key, fault string) {
	if !ok {
		*f = append(*f, fmt.Errorf("%s: %s", key, fault))
	}
}

func (f *faults) atLeast(key string, value, least int64) {
	f.check(value >= least, key, fmt.Sprintf("%d is less than %d", value, least))
}

func (f *faults) positive(key string, d Duration) {
	f.check(d > 0, key, "must be above 0")
}

func (f *faults) oneOf(key, value string, values ...string) {
	f.check(slices.Contains(values, value), key, fmt.Sprintf("%q is none of %s", value, strings.Join(values, ", ")))
}
