package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

// A symptom is a problem that the daemon's metrics show. find describes it, or returns "" if it is
// absent. A grave symptom is a fault, others are warnings.
type symptom struct {
	fine   string // printed if the symptom is absent
	grave  bool
	find   func(s *scrape) string
	advice string
}

// symptoms lists the symptoms in the order of the checks. The advice names settings of
// docs/settings.md.
var symptoms = []symptom{
	{"the disk has room", true, func(s *scrape) string {
		return found(s.value("troupe_disk_full") > 0, "the disk is full: only deletes are accepted")
	}, "Free space on the file system of the data directory. Writes are then accepted again, without a restart."},
	{"all stored objects are readable", true, func(s *scrape) string {
		n := s.value("troupe_unreadable_objects")
		return found(n > 0, "%s stored objects are unreadable: %s", count(n), strings.Join(s.objects("troupe_unreadable_object"), ", "))
	}, "Run troupe verify on the data directory. Restore a backup, or delete these objects: see 'Quarantine of unreadable objects' in docs/operations.md."},
	{"no actor has panicked", true, func(s *scrape) string {
		n := s.value("troupe_actor_panics_total")
		return found(n > 0, "%s actors panicked since the start", count(n))
	}, "This is a bug. The log has the stacks; please report it (see SECURITY.md)."},
	{"snapshots are written", false, func(s *scrape) string {
		n := s.value("troupe_snapshot_failures_total")
		return found(n > 0, "%s snapshots failed since the start", count(n))
	}, "See the log for the cause. Until a snapshot succeeds, the journal grows, and the next start takes longer."},
	{"the disk syncs fast enough", false, func(s *scrape) string {
		mean := ratio(s.value("troupe_journal_sync_seconds_total"), s.value("troupe_journal_sync_total"))
		return found(mean > slowSync, "a sync of the journal takes %s on average", short(mean))
	}, "Every write waits for a sync. Move the data directory to a faster disk, ideally with power-loss protection."},
	{"writes do not queue", false, func(s *scrape) string {
		n := s.value("troupe_commit_queue_depth")
		return found(n > manyWaiting, "%s writes wait for their commit", count(n))
	}, "Writes exceed the throughput of the disk. troupe status shows the sync duration and the busiest collections."},
	{"memory suffices", false, func(s *scrape) string {
		refused := s.value("troupe_memory_refused_total")
		return found(s.value("troupe_memory_scarce") > 0 || refused > 0, "memory was scarce: %s requests were rejected since the start", count(refused))
	}, "Raise the memory limit of the process (GOMEMLIMIT, or that of its control group), or lower watch-history-bytes."},
	{"descriptors suffice", false, func(s *scrape) string {
		open, most := s.value("process_open_fds"), s.value("process_max_fds")
		return found(most > 0 && open > 0.8*most, "%s of %s file descriptors are open", count(open), count(most))
	}, "Raise the limit (LimitNOFILE of systemd, ulimit -n), or find the client that opens so many connections."},
	{"no internal errors", false, func(s *scrape) string {
		n := s.sum("apiserver_request_total", `code="500"`)
		return found(n > 0, "%s requests failed with 500 since the start", count(n))
	}, "The log has the errors with their audit ids. Please report them."},
	{"requests are not rejected", false, func(s *scrape) string {
		refused, all := s.sum("apiserver_request_total", `code="429"`), s.sum("apiserver_request_total", "")
		return found(refused > 0.01*all, "%s of %s requests were rejected with 429 since the start", count(refused), count(all))
	}, "A client exceeds the limits of the server: see 'Troubleshooting' in docs/operations.md, and docs/flowcontrol.md for how to find it."},
	{"watches resume", false, func(s *scrape) string {
		n := s.sum("apiserver_request_total", `verb="WATCH".*code="410"|code="410".*verb="WATCH"`)
		return found(n > 0, "%s watches expired (410) since the start and had to list again", count(n))
	}, "This is normal after a long disconnection or a restore. Otherwise raise watch-history-bytes or watch-history-time."},
	{"no audit events were lost", true, func(s *scrape) string {
		n := s.sum("apiserver_audit_error_total", "")
		return found(n > 0, "%s audit events were lost since the start", count(n))
	}, "See the log for the cause: check the disk of --audit-log-path and the webhook of --audit-webhook-config-file."},
	{"admission webhooks respond", false, func(s *scrape) string {
		n := s.sum("apiserver_admission_webhook_rejection_count", `error_type="calling_webhook_error"`) + s.sum("apiserver_admission_webhook_fail_open_count", "")
		return found(n > 0, "%s calls of admission webhooks failed since the start", count(n))
	}, "The label name of apiserver_admission_webhook_rejection_count identifies the webhook. Repair it, or delete its configuration."},
	{"aggregated API servers are available", false, func(s *scrape) string {
		var names []string
		for series, value := range s.samples {
			if labels, ok := strings.CutPrefix(series, `aggregator_unavailable_apiservice{name="`); ok && value > 0 {
				names = append(names, strings.TrimSuffix(labels, `"}`))
			}
		}
		return found(len(names) > 0, "unavailable APIServices: %s", strings.Join(names, ", "))
	}, "See their condition Available for the cause. Repair the server, or delete the APIService."},
}

// Thresholds of warnings.
const (
	slowSync    = 0.02 // seconds
	manyWaiting = 1000 // changes
	expiresSoon = 14 * 24 * time.Hour
)

func found(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// lookAtServer checks a running daemon's readiness, metrics and certificate.
func (d *diagnosis) lookAtServer(ctx context.Context, r *daemonClient) {
	d.printf("server %s\n", r.URL())
	s, err := r.scrape(ctx)
	if err != nil {
		d.fault("Check that the server is running, and that the user of the kubeconfig may read /metrics.", "reading the metrics failed: %v", err)
		return
	}
	d.lookAtReadiness(ctx, r)
	for _, one := range symptoms {
		switch what := one.find(s); {
		case what == "":
			d.ok("%s", one.fine)
		case one.grave:
			d.fault(one.advice, "%s", what)
		default:
			d.warn(one.advice, "%s", what)
		}
	}
	d.lookAtServingCertificate(ctx, r.URL())
}

func (d *diagnosis) lookAtReadiness(ctx context.Context, r *daemonClient) {
	body, err := r.get(ctx, "/readyz?verbose")
	if err != nil {
		d.fault("The response names the failed checks. A server is not ready while it starts or stops; otherwise see its log.", "the server is not ready: %v", err)
		return
	}
	defer body.Close()
	if _, err := io.Copy(io.Discard, body); err != nil {
		d.fault("Look again.", "reading the response of /readyz failed: %v", err)
		return
	}
	d.ok("the server is ready")
}

// lookAtServingCertificate checks the expiry of the serving certificate. Earlier requests have
// verified that it is trusted.
func (d *diagnosis) lookAtServingCertificate(ctx context.Context, address string) {
	u, err := url.Parse(address)
	if err != nil {
		d.fault("Fix the kubeconfig.", "%v", err)
		return
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "443")
	}
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	connection, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		d.fault("Try again; earlier requests succeeded.", "reading the certificate failed: %v", err)
		return
	}
	defer connection.Close()
	for _, c := range connection.(*tls.Conn).ConnectionState().PeerCertificates[:1] {
		d.lookAtExpiry("the server's certificate", c, "Renew the files of --tls-cert-file. A self-issued certificate is renewed while the server runs and on each start.")
	}
}

func (d *diagnosis) lookAtExpiry(name string, c *x509.Certificate, advice string) {
	switch now, end := time.Now(), c.NotAfter.Local().Format(time.DateTime); {
	case now.After(c.NotAfter):
		d.fault(advice, "%s has expired on %s", name, end)
	case now.Before(c.NotBefore):
		d.fault("Correct the clock of this machine.", "%s is not valid before %s", name, c.NotBefore.Local().Format(time.DateTime))
	case now.Add(expiresSoon).After(c.NotAfter):
		d.warn(advice, "%s expires on %s", name, end)
	default:
		d.ok("%s is valid until %s", name, end)
	}
}
