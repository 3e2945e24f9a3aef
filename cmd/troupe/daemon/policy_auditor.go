package daemon

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/troupe-api/troupe/policy/audit"
	"github.com/troupe-api/troupe/policy/remote"
)

// newAuditor returns the auditor, or nil if no events are recorded. As in kube-apiserver, a policy
// without a destination only causes a warning.
func (p *policies) newAuditor() (*audit.Auditor, error) {
	c := p.config.Audit
	policy := audit.DefaultPolicy()
	if c.PolicyFile != "" {
		var err error
		if policy, err = p.readAuditPolicy(); err != nil {
			return nil, err
		}
	}
	if err := p.auditVersions(); err != nil {
		return nil, err
	}
	var sinks []*audit.Sink
	if c.Webhook.ConfigFile != "" {
		service, err := remote.Load(c.Webhook.ConfigFile)
		if err != nil {
			return nil, fmt.Errorf("--audit-webhook-config-file: %w", err)
		}
		o := p.sinkOptions(c.Webhook.Mode, c.Webhook.Batch, c.Webhook.Truncate)
		sinks = append(sinks, audit.NewWebhook(service, p.naming, time.Duration(c.Webhook.InitialBackoff), o))
	}
	if c.Log.Path != "" {
		to, err := p.newAuditLog()
		if err != nil {
			return nil, fmt.Errorf("--audit-log-path: %w", err)
		}
		o := p.sinkOptions(c.Log.Mode, c.Log.Batch, c.Log.Truncate)
		o.Legacy = c.Log.Format == auditLegacy
		// The log precedes the webhook, so that blocking modes write the local record first.
		sinks = slices.Insert(sinks, 0, audit.NewLog(to, o))
	}
	switch {
	case len(sinks) == 0 && c.PolicyFile != "":
		p.log.Warn("an audit policy is set, but no audit log or webhook: nothing is audited")
		return nil, nil
	case len(sinks) == 0:
		return nil, nil
	case c.PolicyFile == "":
		p.log.Info("no audit policy is set: auditing the metadata of all requests")
	}
	auditor := audit.New(policy, p.naming, time.Now, sinks...)
	if c.PolicyFile == "" {
		return auditor, nil
	}
	return auditor, p.identity.reloader.AddFile("audit-policy", c.PolicyFile, func() error {
		policy, err := p.readAuditPolicy()
		if err == nil {
			auditor.SetPolicy(policy)
		}
		return err
	})
}

func (p *policies) readAuditPolicy() (*audit.Policy, error) {
	path := p.config.Audit.PolicyFile
	t, _, err := loadConfig(p.storage.kinds, "AuditPolicy", path)
	if err != nil {
		return nil, fmt.Errorf("--audit-policy-file %s: %w", path, err)
	}
	return audit.NewPolicy(t), nil
}

// auditVersions checks the configured API versions. validate cannot do this, because the group
// depends on the naming profile.
func (p *policies) auditVersions() error {
	known := p.naming.Group("audit") + "/v1"
	for key, version := range map[string]string{"audit-log-version": p.config.Audit.Log.Version, "audit-webhook-version": p.config.Audit.Webhook.Version} {
		if version != "" && version != known {
			return fmt.Errorf("%s: %q is not %s", key, version, known)
		}
	}
	return nil
}

func (p *policies) sinkOptions(mode string, b AuditBatch, t AuditTruncate) audit.SinkOptions {
	o := audit.SinkOptions{
		Mode: audit.Mode(mode), Logger: p.log,
		Batch: audit.BatchOptions{BufferSize: b.BufferSize, MaxSize: b.MaxSize, MaxWait: time.Duration(b.MaxWait)},
	}
	if b.ThrottleEnable {
		o.Batch.ThrottleQPS, o.Batch.ThrottleBurst = b.ThrottleQPS, b.ThrottleBurst
	}
	if t.Enabled {
		o.MaxEventSize = t.MaxEventSize
	}
	return o
}

func (p *policies) newAuditLog() (io.Writer, error) {
	c := p.config.Audit.Log
	if c.Path == "-" {
		return struct{ io.Writer }{os.Stdout}, nil // without Close: standard output stays open
	}
	return audit.OpenFile(audit.FileOptions{
		Path: c.Path, MaxSize: int64(c.MaxSize) << 20, MaxAge: time.Duration(c.MaxAge) * 24 * time.Hour,
		MaxBackups: c.MaxBackups, Compress: c.Compress, Now: time.Now,
		OnError: func(err error) { p.log.Error("cannot rotate audit log files", "error", err) },
	})
}
