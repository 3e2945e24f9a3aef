package daemon

// BootstrapTokens configures authentication by bootstrap tokens. It is off by default, because
// anyone who may write such Secrets can authenticate as the groups named in them.
type BootstrapTokens struct {
	Enabled bool `flag:"enable-bootstrap-token-auth"`
}
