package daemon

import (
	"slices"
	"time"

	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// ServiceAccounts is how tokens of service accounts are signed and verified. Keys of tokens that are still
// in use must be named among KeyFiles when the signing key changes.
type ServiceAccounts struct {
	SigningKeyFile        string   `flag:"service-account-signing-key-file"` // "" is sa.key among the daemon's certificates
	PrivateKeyFile        string   `flag:"service-account-private-key-file"` // of tokens in Secrets; "" is the signing key
	KeyFiles              []string `flag:"service-account-key-file"`         // further keys that verify
	Issuers               []string `flag:"service-account-issuer"`           // the first signs
	APIAudiences          []string `flag:"api-audiences"`
	Lookup                bool     `flag:"service-account-lookup"`
	MaxTokenExpiration    Duration `flag:"service-account-max-token-expiration"` // 0: none
	ExtendTokenExpiration bool     `flag:"service-account-extend-token-expiration"`
	JWKSURI               string   `flag:"service-account-jwks-uri"`
	// LegacyTokenCleanUpPeriod is how long a token that was put into a Secret by itself may stay unused.
	LegacyTokenCleanUpPeriod Duration `flag:"legacy-service-account-token-clean-up-period"`
}

// The least and the most that the longest life of tokens may be. Shorter tokens would be replaced faster
// than Pods reload them; the most is what the API's field can hold.
const (
	minTokenLifetime = time.Hour
	maxTokenLifetime = (1 << 32) * time.Second
)

// Whether the first issuer can be a place to find keys at is no fault, only a reason to serve no discovery.
func (s ServiceAccounts) validate(f *faults) {
	longest := time.Duration(s.MaxTokenExpiration)
	f.check(longest == 0 || longest >= minTokenLifetime && longest <= maxTokenLifetime,
		"service-account-max-token-expiration", "must be 0, or between 1 hour and 2^32 seconds")
	f.check(!slices.Contains(s.Issuers, ""), "service-account-issuer", "must not hold an empty one")
	f.check(!slices.Contains(s.APIAudiences, ""), "api-audiences", "must not hold an empty one")
	f.check(s.JWKSURI == "" || serviceaccount.Discoverable(s.JWKSURI), "service-account-jwks-uri", "must be an https URL without query and fragment")
}
