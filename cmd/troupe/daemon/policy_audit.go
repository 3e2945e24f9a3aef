package daemon

// Audit configures the audit policy and the destinations of audit events.
type Audit struct {
	PolicyFile string       `flag:"audit-policy-file"` // "" selects the built-in policy
	Log        AuditLog     `flag:"audit-log-"`
	Webhook    AuditWebhook `flag:"audit-webhook-"`
}

// AuditLog configures the audit log file. It is rotated by size, and the age and number of rotated
// files are limited.
type AuditLog struct {
	Path       string        `flag:"path"` // "" disables it, "-" is standard output
	Format     string        `flag:"format"`
	Version    string        `flag:"version"`
	MaxAge     int           `flag:"maxage"`    // days; 0 keeps all
	MaxBackups int           `flag:"maxbackup"` // files; 0 keeps all
	MaxSize    int           `flag:"maxsize"`   // megabytes; 0 does not rotate
	Compress   bool          `flag:"compress"`
	Mode       string        `flag:"mode"`
	Batch      AuditBatch    `flag:"batch-"`
	Truncate   AuditTruncate `flag:"truncate-"`
}

// AuditWebhook configures the webhook for audit events. Events are batched by default, so that a
// slow webhook does not delay requests.
type AuditWebhook struct {
	ConfigFile     string        `flag:"config-file"` // "" disables it
	Version        string        `flag:"version"`
	InitialBackoff Duration      `flag:"initial-backoff"`
	Mode           string        `flag:"mode"`
	Batch          AuditBatch    `flag:"batch-"`
	Truncate       AuditTruncate `flag:"truncate-"`
}

// AuditBatch configures the batch mode. Events beyond BufferSize are dropped and counted.
type AuditBatch struct {
	BufferSize     int      `flag:"buffer-size"`
	MaxSize        int      `flag:"max-size"`
	MaxWait        Duration `flag:"max-wait"`
	ThrottleEnable bool     `flag:"throttle-enable"`
	ThrottleQPS    float64  `flag:"throttle-qps"`
	ThrottleBurst  int      `flag:"throttle-burst"`
}

// AuditTruncate configures the truncation of large events.
type AuditTruncate struct {
	Enabled      bool `flag:"enabled"`
	MaxEventSize int  `flag:"max-event-size"` // bytes
}

// Formats of an audit log line. The legacy format predates JSON.
const (
	auditJSON   = "json"
	auditLegacy = "legacy"
)

func (b AuditBatch) validate(f *faults, prefix string) {
	f.check(b.ThrottleQPS > 0 || !b.ThrottleEnable, prefix+"batch-throttle-qps", "must be above 0")
	f.check(b.ThrottleBurst > 0 || !b.ThrottleEnable, prefix+"batch-throttle-burst", "must be above 0")
}

func (t AuditTruncate) validate(f *faults, prefix string) {
	f.check(t.MaxEventSize > 0 || !t.Enabled, prefix+"truncate-max-event-size", "must be above 0")
}
