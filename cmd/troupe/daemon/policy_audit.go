package daemon

import (
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy/audit"
)

// Audit says what is recorded of requests, and where.
type Audit struct {
	PolicyFile string       `json:"policyFile"` // "" is the built-in policy
	Log        AuditLog     `json:"log"`
	Webhook    AuditWebhook `json:"webhook"`
}

// AuditLog is the log file of requests. The log is rotated by size; age and number bound what is kept of
// it.
type AuditLog struct {
	Path       string        `json:"path"` // "" is none, "-" standard output
	Format     string        `json:"format"`
	Version    string        `json:"version"`
	MaxAge     int           `json:"maxAge"`     // days; 0 keeps
	MaxBackups int           `json:"maxBackups"` // files; 0 keeps
	MaxSize    int           `json:"maxSize"`    // megabytes; 0 does not rotate
	Compress   bool          `json:"compress"`
	Mode       string        `json:"mode"`
	Batch      AuditBatch    `json:"batch"`
	Truncate   AuditTruncate `json:"truncate"`
}

// AuditWebhook is the service that audit events are sent to. Its events are batched by default, for a
// remote must not slow every request down.
type AuditWebhook struct {
	ConfigFile     string        `json:"configFile"` // "" is none
	Version        string        `json:"version"`
	InitialBackoff Duration      `json:"initialBackoff"`
	Mode           string        `json:"mode"`
	Batch          AuditBatch    `json:"batch"`
	Truncate       AuditTruncate `json:"truncate"`
}

// AuditBatch is how events are gathered in mode batch. Memory for a slow sink is bounded by BufferSize
// events, beyond which events are lost and counted.
type AuditBatch struct {
	BufferSize     int      `json:"bufferSize"`
	MaxSize        int      `json:"maxSize"`
	MaxWait        Duration `json:"maxWait"`
	ThrottleEnable bool     `json:"throttleEnable"`
	ThrottleQPS    float64  `json:"throttleQPS"`
	ThrottleBurst  int      `json:"throttleBurst"`
}

// AuditTruncate is what becomes of large events.
type AuditTruncate struct {
	Enabled      bool `json:"enabled"`
	MaxEventSize int  `json:"maxEventSize"` // bytes
}

// The defaults are those of the API server that clients know: a local file is quick, so it blocks and is
// not throttled.
func defaultAudit() Audit {
	truncate := AuditTruncate{MaxEventSize: 100 << 10}
	return Audit{
		Log: AuditLog{
			Format: auditJSON, MaxSize: 100, Mode: string(audit.Blocking), Truncate: truncate,
			Batch: AuditBatch{BufferSize: 10000, MaxSize: 400, MaxWait: Duration(100 * time.Millisecond), ThrottleQPS: 10, ThrottleBurst: 15},
		},
		Webhook: AuditWebhook{
			InitialBackoff: Duration(10 * time.Second), Mode: string(audit.Batch), Truncate: truncate,
			Batch: AuditBatch{BufferSize: 10000, MaxSize: 400, MaxWait: Duration(30 * time.Second), ThrottleEnable: true, ThrottleQPS: 10, ThrottleBurst: 15},
		},
	}
}

// The forms of the lines of a log. The second is for tools that read the format from before events were
// JSON.
const (
	auditJSON   = "json"
	auditLegacy = "legacy"
)

// Both sinks have the same flags for batches and truncation, under prefixes.
func (a *Audit) flags(f *pflag.FlagSet) {
	f.StringVar(&a.PolicyFile, "audit-policy-file", a.PolicyFile, "File of the audit policy, in YAML. Without it what is audited is the metadata of every request, but of health and discovery.")
	l := &a.Log
	f.StringVar(&l.Path, "audit-log-path", l.Path, "File that audit events are written to; - is standard output.")
	f.StringVar(&l.Format, "audit-log-format", l.Format, "Form of its lines: json or legacy.")
	f.StringVar(&l.Version, "audit-log-version", l.Version, "Version of the events in it; there is one, v1 of the audit group.")
	f.IntVar(&l.MaxAge, "audit-log-maxage", l.MaxAge, "Days that full audit log files are kept; 0 is for ever.")
	f.IntVar(&l.MaxBackups, "audit-log-maxbackup", l.MaxBackups, "How many full audit log files are kept; 0 is all.")
	f.IntVar(&l.MaxSize, "audit-log-maxsize", l.MaxSize, "Megabytes at which an audit log file is full; 0 is never.")
	f.BoolVar(&l.Compress, "audit-log-compress", l.Compress, "Compress full audit log files with gzip.")
	f.StringVar(&l.Mode, "audit-log-mode", l.Mode, modeHelp)
	l.Batch.flags(f, "audit-log-batch-")
	l.Truncate.flags(f, "audit-log-truncate-")
	w := &a.Webhook
	f.StringVar(&w.ConfigFile, "audit-webhook-config-file", w.ConfigFile, "Client configuration (kubeconfig) of the service that audit events are sent to.")
	f.StringVar(&w.Version, "audit-webhook-version", w.Version, "Version of the events sent to it; there is one, v1 of the audit group.")
	f.Var(&w.InitialBackoff, "audit-webhook-initial-backoff", "Pause before audit events that could not be sent are sent again; it grows with each repetition.")
	f.StringVar(&w.Mode, "audit-webhook-mode", w.Mode, modeHelp)
	w.Batch.flags(f, "audit-webhook-batch-")
	w.Truncate.flags(f, "audit-webhook-truncate-")
}

// modeHelp is the help of both flags for the mode, that of the log and that of the webhook: the backends differ in where
// events go, and not in when.
const modeHelp = "When audit events are stored: batch is later and together, blocking before the request is answered, blocking-strict as well, and a request whose arrival cannot be stored is refused."

// flags binds the settings of a batch. prefix is that of the backend, as the log and the webhook have the same settings.
// The throttle is in batches, not in events.
func (b *AuditBatch) flags(f *pflag.FlagSet, prefix string) {
	f.IntVar(&b.BufferSize, prefix+"buffer-size", b.BufferSize, "Audit events that may wait in mode batch; more are lost, and counted.")
	f.IntVar(&b.MaxSize, prefix+"max-size", b.MaxSize, "Most audit events in one batch.")
	f.Var(&b.MaxWait, prefix+"max-wait", "Longest time that an audit event waits for a batch to become full.")
	f.BoolVar(&b.ThrottleEnable, prefix+"throttle-enable", b.ThrottleEnable, "Bound how many batches are sent.")
	f.Float64Var(&b.ThrottleQPS, prefix+"throttle-qps", b.ThrottleQPS, "Batches per second on average.")
	f.IntVar(&b.ThrottleBurst, prefix+"throttle-burst", b.ThrottleBurst, "Batches at once after a time without.")
}

// flags binds the settings for events that are too large, under the prefix of their backend.
func (t *AuditTruncate) flags(f *pflag.FlagSet, prefix string) {
	f.BoolVar(&t.Enabled, prefix+"enabled", t.Enabled, "Leave the bodies out of audit events that are too large.")
	f.IntVar(&t.MaxEventSize, prefix+"max-event-size", t.MaxEventSize, "Bytes from which an audit event is too large.")
}

// validate checks the settings of both backends, also of one that is not used: a fault that shows only when auditing is
// switched on would show at the worst time.
func (a Audit) validate(f *faults) {
	f.oneOf("audit.log.format", a.Log.Format, auditJSON, auditLegacy)
	f.atLeast("audit.log.maxAge", int64(a.Log.MaxAge), 0)
	f.atLeast("audit.log.maxBackups", int64(a.Log.MaxBackups), 0)
	f.atLeast("audit.log.maxSize", int64(a.Log.MaxSize), 0)
	f.oneOf("audit.log.mode", a.Log.Mode, audit.Modes...)
	a.Log.Batch.validate(f, "audit.log.batch.")
	a.Log.Truncate.validate(f, "audit.log.truncate.")
	f.check(a.Webhook.InitialBackoff >= 0, "audit.webhook.initialBackoff", "must not be negative")
	f.oneOf("audit.webhook.mode", a.Webhook.Mode, audit.Modes...)
	a.Webhook.Batch.validate(f, "audit.webhook.batch.")
	a.Webhook.Truncate.validate(f, "audit.webhook.truncate.")
}

// What is not in use is not checked: an unused rate may be zero.
func (b AuditBatch) validate(f *faults, prefix string) {
	f.atLeast(prefix+"bufferSize", int64(b.BufferSize), 1)
	f.atLeast(prefix+"maxSize", int64(b.MaxSize), 1)
	f.check(b.MaxWait >= 0, prefix+"maxWait", "must not be negative")
	f.check(b.ThrottleQPS > 0 || !b.ThrottleEnable, prefix+"throttleQPS", "must be above 0")
	f.check(b.ThrottleBurst > 0 || !b.ThrottleEnable, prefix+"throttleBurst", "must be above 0")
}

// validate wants a size only where it counts: one of 0 would leave the bodies out of every event.
func (t AuditTruncate) validate(f *faults, prefix string) {
	f.check(t.MaxEventSize > 0 || !t.Enabled, prefix+"maxEventSize", "must be above 0")
}
