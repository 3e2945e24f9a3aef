package daemon

// BootstrapTokens configures authentication by bootstrap tokens. It is disabled by default, because
// users who can write bootstrap token Secrets can authenticate as members of the groups in them.
type BootstrapTokens struct {
	Enabled bool `flag:"enable-bootstrap-token-auth"`
}
