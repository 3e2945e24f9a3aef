package daemon

// Audit says what is recorded of requests, and where.
type Audit struct {
	PolicyFile string       `flag:"audit-policy-file"` // "" is the built-in policy
	Log        AuditLog     `flag:"audit-log-"`
	Webhook    AuditWebhook `flag:"audit-webhook-"`
}

// AuditLog is the log file of requests. The log is rotated by size; age and number bound what is kept of
// it.
type AuditLog struct {
	Path       string        `flag:"path"` // "" is none, "-" standard output
	Format     string        `flag:"format"`
	Version    string        `flag:"version"`
	MaxAge     int           `flag:"maxage"`    // days; 0 keeps
	MaxBackups int           `flag:"maxbackup"` // files; 0 keeps
	MaxSize    int           `flag:"maxsize"`   // megabytes; 0 does not rotate
	Compress   bool          `flag:"compress"`
	Mode       string        `flag:"mode"`
	Batch      AuditBatch    `flag:"batch-"`
	Truncate   AuditTruncate `flag:"truncate-"`
}

// AuditWebhook is the service that audit events are sent to. Its events are batched by default, for a
// remote must not slow every request down.
type AuditWebhook struct {
	ConfigFile     string        `flag:"config-file"` // "" is none
	Version        string        `flag:"version"`
	InitialBackoff Duration      `flag:"initial-backoff"`
	Mode           string        `flag:"mode"`
	Batch          AuditBatch    `flag:"batch-"`
	Truncate       AuditTruncate `flag:"truncate-"`
}

// AuditBatch is how events are gathered in mode batch. Memory for a slow sink is bounded by BufferSize
// events, beyond which events are lost and counted.
type AuditBatch struct {
	BufferSize     int      `flag:"buffer-size"`
	MaxSize        int      `flag:"max-size"`
	MaxWait        Duration `flag:"max-wait"`
	ThrottleEnable bool     `flag:"throttle-enable"`
	ThrottleQPS    float64  `flag:"throttle-qps"`
	ThrottleBurst  int      `flag:"throttle-burst"`
}

// AuditTruncate is what becomes of large events.
type AuditTruncate struct {
	Enabled      bool `flag:"enabled"`
	MaxEventSize int  `flag:"max-event-size"` // bytes
}

// The forms of the lines of a log. The second is for tools that read the format from before events were
// JSON.
const (
	auditJSON   = "json"
	auditLegacy = "legacy"
)

// validate does not check a throttle that is not used.
func (b AuditBatch) validate(f *faults, prefix string) {
	f.check(b.ThrottleQPS > 0 || !b.ThrottleEnable, prefix+"batch-throttle-qps", "must be above 0")
	f.check(b.ThrottleBurst > 0 || !b.ThrottleEnable, prefix+"batch-throttle-burst", "must be above 0")
}

func (t AuditTruncate) validate(f *faults, prefix string) {
	f.check(t.MaxEventSize > 0 || !t.Enabled, prefix+"truncate-max-event-size", "must be above 0")
}
