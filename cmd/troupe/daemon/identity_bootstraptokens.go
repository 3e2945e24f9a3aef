package daemon

import "github.com/spf13/pflag"

// BootstrapTokens is whether tokens of Secrets let new members of the cluster in. It is off by default:
// whoever may write such a Secret can authenticate with the groups that it names.
type BootstrapTokens struct {
	Enabled bool `json:"enabled"`
}

// flags binds the section.
func (b *BootstrapTokens) flags(f *pflag.FlagSet) {
	f.BoolVar(&b.Enabled, "enable-bootstrap-token-auth", b.Enabled, "Let bootstrap tokens in, which Secrets of the system's namespace hold.")
}
