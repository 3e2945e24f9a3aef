package daemon

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/policyobjects"
	"github.com/troupe-api/troupe/http"
)

// serve makes the HTTP server, with all that decides about requests, and lets it accept connections.
func (d *Daemon) serve() error {
	options, err := d.serverOptions()
	if err != nil {
		return err
	}
	if d.httpServer, err = http.New(options); err != nil {
		return err
	}
	go func() {
		if err := d.httpServer.Serve(); err != nil {
			d.fatal(fmt.Errorf("serving: %w", err))
		}
	}()
	return nil
}

func (d *Daemon) serverOptions() (none http.Options, err error) {
	rules, err := d.newPolicies(d.identity)
	if err != nil {
		return none, err
	}
	d.auditor = rules.audit
	secure, err := d.identity.tlsConfig()
	if err != nil {
		return none, err
	}
	s := d.config.Serving
	origins, err := parseOrigins(s.CORSAllowedOrigins)
	if err != nil {
		return none, err
	}
	extra, err := d.oidcDiscovery()
	if err != nil {
		return none, err
	}
	extra[BackupPath] = http.ExtraRoute{Write: d.backup}
	return http.Options{
		Naming: d.naming, Catalog: d.kinds, Store: policyobjects.NewBarrierStore(d.objects, d.definitions),
		Authenticator:  rules.authenticator,
		Authorizer:     rules.authorizer,
		AuthGeneration: rules.generation.Current,
		Audit:          rules.audit,
		Admission:      rules.admission,
		Listener:       d.listener, TLS: secure,
		StrictTransportSecurity: d.config.TLS.strictTransport(), AllowedOrigins: origins,
		ExternalAddress: strings.TrimPrefix(d.advertisedURL(), "https://"), Version: Version, Logger: d.log,
		MemoryMonitor: d.memoryGauge(),
		Limits:        s.limits(),
		WriteMetrics:  d.writeMetrics,
		Checks:        d.healthChecks(),
		ExtraRoutes:   extra,
		Operations:    d.newOperations(d.kinds, rules),
		Profiling:     s.Profiling,
		ShutdownDelay: time.Duration(s.ShutdownDelay),
	}, nil
}

// writeMetrics writes the metrics of all parts but the HTTP server, which has its own.
func (d *Daemon) writeMetrics(w io.Writer) {
	d.writeProcess(w)
	d.store.WriteMetrics(w)
	d.memoryMonitor.writeMetrics(w)
	d.identity.reloader.WriteMetrics(w)
}

// BackupPath is where a running daemon gives out a backup of its state.
const BackupPath = "/backup"

func (d *Daemon) backup(w io.Writer) error {
	_, err := d.journal.Backup(w)
	return err
}
