package daemon

// BootstrapTokens configures authentication by bootstrap tokens. It is disabled by default, because
// every user with permission to write bootstrap token Secrets can authenticate as the groups in
// them.
type BootstrapTokens struct {
	Enabled bool `flag:"enable-bootstrap-token-auth"`
}
