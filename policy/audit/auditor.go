package audit

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
	"github.com/troupe-api/troupe/kinds/meta"
)

// An Auditor sends every Event to all of its Sinks.
type Auditor struct {
	policy atomic.Pointer[Policy]
	sinks  []*Sink
	names  vendorNames
	now    func() time.Time

	events, rejected metrics.Counter
	levels           [RequestResponse + 1]metrics.Counter
}

// vendorNames holds the identifiers that depend on the naming profile.
type vendorNames struct {
	apiVersion                                       string
	decision, reason, deprecated, removed, truncated string
}

func newVendorNames(n *meta.Naming) vendorNames {
	return vendorNames{
		apiVersion: n.Group("audit") + "/v1",
		decision:   n.Translate("authorization.platform.io/decision"),
		reason:     n.Translate("authorization.platform.io/reason"),
		deprecated: n.Translate("platform.io/deprecated"),
		removed:    n.Translate("platform.io/removed-release"),
		truncated:  n.Translate("audit.platform.io/truncated"),
	}
}

// New returns an Auditor that takes ownership of the sinks.
func New(policy *Policy, naming *meta.Naming, now func() time.Time, sinks ...*Sink) *Auditor {
	u := &Auditor{sinks: sinks, names: newVendorNames(naming), now: now}
	u.SetPolicy(policy)
	return u
}

// SetPolicy replaces the policy for subsequent requests.
func (u *Auditor) SetPolicy(policy *Policy) { u.policy.Store(policy) }

// emit sends a Record's current Event to all sinks. It returns false if a sink in mode
// BlockingStrict lost the Event. The caller may reject such a request only at stage
// RequestReceived. The first sink of each format (JSON or legacy) encodes the Event for the others.
func (u *Auditor) emit(r *Record) bool {
	u.events.Inc()
	stored := true
	r.json, r.legacy = r.json[:0], r.legacy[:0]
	for _, s := range u.sinks {
		stored = s.put(r) && stored
	}
	if !stored && r.Stage == RequestReceived {
		u.rejected.Inc()
	}
	return stored
}

// Close delivers buffered events until ctx ends, and closes the sinks in order. The error contains
// the number of lost events.
func (u *Auditor) Close(ctx context.Context) error {
	var errs []error
	for _, s := range u.sinks {
		errs = append(errs, s.close(ctx))
	}
	return errors.Join(errs...)
}

// WriteMetrics writes the metrics in the text exposition format.
func (u *Auditor) WriteMetrics(w io.Writer) {
	lost, levels := metrics.Samples{}, metrics.Samples{}
	for _, s := range u.sinks {
		lost[`plugin="`+s.name+`"`] = &s.losses.lost
	}
	for level := range u.levels {
		levels[`level="`+Level(level).String()+`"`] = &u.levels[level]
	}
	metrics.Write(w,
		metrics.CounterValue("apiserver_audit_event_total", "Audit events sent to the backends.", &u.events),
		metrics.CounterValue("apiserver_audit_error_total", "Lost audit events, by backend.", lost),
		metrics.CounterValue("apiserver_audit_level_total", "Requests by audit level.", levels),
		metrics.CounterValue("apiserver_audit_requests_rejected_total", "Requests rejected because their audit event could not be stored.", &u.rejected),
	)
}
