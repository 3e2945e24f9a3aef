package certs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// A Reloader reads certificates and CAs again from time to time, so that those in use are those in
// the files. All of its targets are added before Run.
type Reloader struct {
	log     *slog.Logger
	targets []*reloadTarget
}

// A reloadTarget is one thing that is reloaded.
type reloadTarget struct {
	name              string
	reload            func() (changed bool, err error)
	changes, failures atomic.Uint64
	lastError         string // of the last attempt, so that it is logged once; "" if there was none
}

// NewReloader makes a Reloader without targets.
func NewReloader(log *slog.Logger) *Reloader { return &Reloader{log: log} }

// Add adds a target: reload reads it again and tells whether it has changed. Targets are reloaded in
// the order in which they were added. The name, such as "client-ca", is for log and metrics.
func (r *Reloader) Add(name string, reload func() (changed bool, err error)) {
	r.targets = append(r.targets, &reloadTarget{name: name, reload: reload})
}

// Run reloads all targets once every period, until ctx ends.
func (r *Reloader) Run(ctx context.Context, period time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.Reload()
		}
	}
}

// Reload reloads all targets once. Only one goroutine may call it at a time.
func (r *Reloader) Reload() {
	for _, target := range r.targets {
		changed, err := target.reload()
		if changed {
			target.changes.Add(1)
			r.log.Info("certificates: loaded anew", "what", target.name)
		}
		if err == nil {
			target.lastError = ""
			continue
		}
		target.failures.Add(1)
		if text := err.Error(); text != target.lastError {
			target.lastError = text
			r.log.Error("certificates: cannot be loaded; those before stay in use", "what", target.name, "error", text)
		}
	}
}

// WriteMetrics writes how often targets have changed, and how many reloads have failed, in the text
// exposition format.
func (r *Reloader) WriteMetrics(w io.Writer) {
	const name = "troupe_certificate_reloads_total"
	fmt.Fprintf(w, "# HELP %s Certificates and CAs loaded anew, and attempts that failed and left the old ones in use.\n# TYPE %[1]s counter\n", name)
	for _, target := range r.targets {
		metrics.WriteCounterUint64(w, fmt.Sprintf("%s{what=%q,status=\"success\"}", name, target.name), target.changes.Load())
		metrics.WriteCounterUint64(w, fmt.Sprintf("%s{what=%q,status=\"failure\"}", name, target.name), target.failures.Load())
	}
}
