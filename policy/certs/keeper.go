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
type Keeper struct {
	log  *slog.Logger
	kept []*keeping
}

// A keeping is one thing that is looked after.
type keeping struct {
	name            string
	look            func() (changed bool, err error)
	changes, faults atomic.Uint64
	fault           string // of the last look, not to be logged again; "" if there was none
}

// NewKeeper makes a keeper that keeps nothing yet.
func NewKeeper(log *slog.Logger) *Keeper { return &Keeper{log: log} }

// Keep adds what is looked after by calling look, which tells whether it has found a change.
// The order is that of the calls. The name, such as "client-ca", is for log and metrics.
func (k *Keeper) Keep(name string, look func() (changed bool, err error)) {
	k.kept = append(k.kept, &keeping{name: name, look: look})
}

// Run looks once every period, until ctx ends.
func (k *Keeper) Run(ctx context.Context, period time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			k.Look()
		}
	}
}

// Look looks at everything once. Only one goroutine may call it at a time.
func (k *Keeper) Look() {
	for _, kept := range k.kept {
		changed, err := kept.look()
		if changed {
			kept.changes.Add(1)
			k.log.Info("certificates: loaded anew", "what", kept.name)
		}
		if err == nil {
			kept.fault = ""
			continue
		}
		kept.faults.Add(1)
		if text := err.Error(); text != kept.fault {
			kept.fault = text
			k.log.Error("certificates: cannot be loaded; those before stay in use", "what", kept.name, "error", text)
		}
	}
}

// WriteMetrics writes how often things have changed, and how many looks have failed, in
// the text exposition format.
func (k *Keeper) WriteMetrics(w io.Writer) {
	const name = "troupe_certificate_reloads_total"
	fmt.Fprintf(w, "# HELP %s Certificates and CAs loaded anew, and attempts that failed and left the old ones in use.\n# TYPE %[1]s counter\n", name)
	for _, kept := range k.kept {
		fmt.Fprintf(w, "%s{what=%q,status=\"success\"} %d\n", name, kept.name, kept.changes.Load())
		fmt.Fprintf(w, "%s{what=%q,status=\"failure\"} %d\n", name, kept.name, kept.faults.Load())
	}
}
