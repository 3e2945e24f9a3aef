package daemon

// BootstrapTokens is whether tokens of Secrets let new members of the cluster in. It is off by default:
// whoever may write such a Secret can authenticate with the groups that it names.
type BootstrapTokens struct {
	Enabled bool `flag:"enable-bootstrap-token-auth"`
}
