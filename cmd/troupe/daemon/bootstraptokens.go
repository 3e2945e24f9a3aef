package daemon

import "github.com/spf13/pflag"

// BootstrapTokens is whether tokens of Secrets let new members of the cluster in.
type BootstrapTokens struct {
	Enabled bool `json:"enabled"`
}

func (b *BootstrapTokens) flags(f *pflag.FlagSet) {
	f.BoolVar(&b.Enabled, "enable-bootstrap-token-auth", b.Enabled, "Let bootstrap tokens in, which Secrets of the system's namespace hold.")
}
