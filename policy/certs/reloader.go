package certs

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
)

// A Reloader periodically reloads certificates, CAs and other files. All targets must be added
// before Run.
type Reloader struct {
	log     *slog.Logger
	targets []*reloadTarget
	reloads *metrics.Counters
	now     chan struct{} // requests an immediate reload from Run
}

type reloadTarget struct {
	name              string
	reload            func() (changed bool, err error)
	changes, failures *metrics.Counter // shared by targets of the same name
	lastError         string           // of the last attempt, to log it only once, or ""
}

// NewReloader returns a Reloader without targets.
func NewReloader(log *slog.Logger) *Reloader {
	return &Reloader{log: log, now: make(chan struct{}, 1), reloads: metrics.NewCounters("troupe_certificate_reloads_total",
		"Reloads of changed certificates, CAs and other files, by file and status. After a failure the previous content stays in use.", "what", "status")}
}

// AddFile loads the file at path by calling load, and adds a target that calls load again whenever
// the content changes.
func (r *Reloader) AddFile(name, path string, load func() error) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := load(); err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	r.Add(name, func() (bool, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		changed := sha256.Sum256(text)
		if changed == sum {
			return false, nil
		}
		if err := load(); err != nil {
			return false, err
		}
		sum = changed
		return true, nil
	})
	return nil
}

// Trigger makes Run reload all targets immediately.
func (r *Reloader) Trigger() {
	select {
	case r.now <- struct{}{}:
	default: // a reload is already pending
	}
}

// Add adds a function to be called on each reload. Functions are called in the order of their
// addition. name, such as "client-ca", appears in logs and metrics.
func (r *Reloader) Add(name string, reload func() (changed bool, err error)) {
	r.targets = append(r.targets, &reloadTarget{
		name: name, reload: reload, changes: r.reloads.With(name, "success"), failures: r.reloads.With(name, "failure"),
	})
}

// Run reloads all targets once per period, and on each Trigger, until ctx ends.
func (r *Reloader) Run(ctx context.Context, period time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.Reload()
		case <-r.now:
			if len(r.Reload()) == 0 {
				r.log.Info("reread files without changes")
			}
		}
	}
}

// Reload reloads all targets once, logs the changed ones, and returns their names. It must not be
// called concurrently.
func (r *Reloader) Reload() (reloaded []string) {
	for _, target := range r.targets {
		changed, err := target.reload()
		if changed {
			target.changes.Inc()
			reloaded = append(reloaded, target.name)
		}
		if err == nil {
			target.lastError = ""
			continue
		}
		target.failures.Inc()
		if text := err.Error(); text != target.lastError {
			target.lastError = text
			r.log.Error("failed to reload a file; the previous content stays in use", "what", target.name, "error", text)
		}
	}
	if len(reloaded) > 0 {
		r.log.Info("reloaded files", "what", strings.Join(reloaded, ","))
	}
	return reloaded
}

// WriteMetrics writes the counts of changes and failed reloads in the text exposition format.
func (r *Reloader) WriteMetrics(w io.Writer) { r.reloads.Write(w) }
