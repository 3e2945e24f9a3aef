package daemon

import (
	"slices"
	"time"

	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// ServiceAccounts configures how service account tokens are signed and verified. After a change of
// the signing key, KeyFiles must list the keys of tokens that are still in use.
type ServiceAccounts struct {
	SigningKeyFile        string   `flag:"service-account-signing-key-file"` // "" uses sa.key in the certificate directory
	PrivateKeyFile        string   `flag:"service-account-private-key-file"` // of tokens in Secrets; "" uses the signing key
	KeyFiles              []string `flag:"service-account-key-file"`         // additional verification keys
	Issuers               []string `flag:"service-account-issuer"`           // new tokens name the first
	APIAudiences          []string `flag:"api-audiences"`
	Lookup                bool     `flag:"service-account-lookup"`
	MaxTokenExpiration    Duration `flag:"service-account-max-token-expiration"` // 0 means no maximum
	ExtendTokenExpiration bool     `flag:"service-account-extend-token-expiration"`
	JWKSURI               string   `flag:"service-account-jwks-uri"`
	// LegacyTokenCleanUpPeriod is the time after which unused auto-generated token Secrets are
	// removed.
	LegacyTokenCleanUpPeriod Duration `flag:"legacy-service-account-token-clean-up-period"`
}

// Bounds for MaxTokenExpiration, as in kube-apiserver. Shorter tokens would expire before Pods
// reload them.
const (
	minTokenLifetime = time.Hour
	maxTokenLifetime = (1 << 32) * time.Second
)

// validate allows the first issuer to be undiscoverable, but OIDC discovery is then not served.
func (s ServiceAccounts) validate(f *faults) {
	longest := time.Duration(s.MaxTokenExpiration)
	f.check(longest == 0 || longest >= minTokenLifetime && longest <= maxTokenLifetime,
		"service-account-max-token-expiration", "must be 0, or between 1 hour and 2^32 seconds")
	f.check(!slices.Contains(s.Issuers, ""), "service-account-issuer", "must not contain an empty value")
	f.check(!slices.Contains(s.APIAudiences, ""), "api-audiences", "must not contain an empty value")
	f.check(s.JWKSURI == "" || serviceaccount.Discoverable(s.JWKSURI), "service-account-jwks-uri", "must be an https URL without query and fragment")
}
