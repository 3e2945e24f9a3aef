package certs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

// A Keeper looks at certificates from time to time, so that those in use are those that are
// in the files. What it keeps is named before Run.
type Reloader struct {
	log     *slog.Logger
	targets []*reloadTarget
}

// A keeping is one thing that is looked after.
type reloadTarget struct {
	name              string
	reload            func() (changed bool, err error)
	changes, failures atomic.Uint64
	lastError         string // of the last look, not to be logged again; "" if there was none
}

// NewReloader makes a keeper that keeps nothing yet.
func NewReloader(log *slog.Logger) *Reloader { return &Reloader{log: log} }

// Add adds what is looked after by calling look, which tells whether it has found a change.
// The order is that of the calls. The name, such as "client-ca", is for log and metrics.
func (k *Reloader) Add(name string, look func() (changed bool, err error)) {
	k.targets = append(k.targets, &reloadTarget{name: name, reload: look})
}

// Run looks once every period, until ctx ends.
func (k *Reloader) Run(ctx context.Context, period time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			k.Reload()
		}
	}
}

// Reload looks at everything once. Only one goroutine may call it at a time.
func (k *Reloader) Reload() {
	for _, kept := range k.targets {
		changed, err := kept.reload()
		if changed {
			kept.changes.Add(1)
			k.log.Info("certificates: loaded anew", "what", kept.name)
		}
		if err == nil {
			kept.lastError = ""
			continue
		}
		kept.failures.Add(1)
		if text := err.Error(); text != kept.lastError {
			kept.lastError = text
			k.log.Error("certificates: cannot be loaded; those before stay in use", "what", kept.name, "error", text)
		}
	}
}

// WriteMetrics writes how often things have changed, and how many looks have failed, in
// the text exposition format.
func (k *Reloader) WriteMetrics(w io.Writer) {
	const name = "troupe_certificate_reloads_total"
	fmt.Fprintf(w, "# HELP %s Certificates and CAs loaded anew, and attempts that failed and left the old ones in use.\n# TYPE %[1]s counter\n", name)
	for _, kept := range k.targets {
		fmt.Fprintf(w, "%s{what=%q,status=\"success\"} %d\n", name, kept.name, kept.changes.Load())
		fmt.Fprintf(w, "%s{what=%q,status=\"failure\"} %d\n", name, kept.name, kept.failures.Load())
	}
}
