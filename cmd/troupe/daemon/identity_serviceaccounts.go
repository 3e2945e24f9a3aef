package daemon

import (
	"slices"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// ServiceAccounts is how tokens of service accounts are signed and verified. Keys of tokens that are still
// in use must be named among KeyFiles when the signing key changes.
type ServiceAccounts struct {
	SigningKeyFile        string   `json:"signingKeyFile"` // "" is sa.key among the daemon's certificates
	PrivateKeyFile        string   `json:"privateKeyFile"` // of tokens in Secrets; "" is the signing key
	KeyFiles              []string `json:"keyFiles"`       // further keys that verify
	Issuers               []string `json:"issuers"`        // the first signs
	APIAudiences          []string `json:"apiAudiences"`
	Lookup                bool     `json:"lookup"`
	MaxTokenExpiration    Duration `json:"maxTokenExpiration"` // 0: none
	ExtendTokenExpiration bool     `json:"extendTokenExpiration"`
	JWKSURI               string   `json:"jwksURI"`
	// LegacyTokenCleanUpPeriod is how long a token that was put into a Secret by itself may stay unused.
	LegacyTokenCleanUpPeriod Duration `json:"legacyTokenCleanUpPeriod"`
}

// defaultServiceAccounts looks tokens of Secrets up, so that deleting a Secret ends its token.
func defaultServiceAccounts() ServiceAccounts {
	return ServiceAccounts{Lookup: true, LegacyTokenCleanUpPeriod: Duration(365 * 24 * time.Hour)}
}

// flags binds the section. Key files and issuers are array flags: each is given by a flag of its own.
func (s *ServiceAccounts) flags(f *pflag.FlagSet) {
	f.StringVar(&s.SigningKeyFile, "service-account-signing-key-file", s.SigningKeyFile, "PEM file of the private key, RSA or ECDSA, that signs tokens of service accounts (default sa.key in --cert-dir, made on first start).")
	f.StringArrayVar(&s.KeyFiles, "service-account-key-file", s.KeyFiles, "PEM file of keys, public or private, that verify tokens of service accounts beside those that sign; may be given several times and hold several keys.")
	f.StringVar(&s.PrivateKeyFile, "service-account-private-key-file", s.PrivateKeyFile, "PEM file of the private key that signs the tokens in Secrets (default the one of --service-account-signing-key-file).")
	f.StringArrayVar(&s.Issuers, "service-account-issuer", s.Issuers, "Issuer in tokens of service accounts; may be given several times: the first is written into new ones, all are accepted (default the address of the API's own Service).")
	f.StringSliceVar(&s.APIAudiences, "api-audiences", s.APIAudiences, "Audiences that tokens must be for one of, with commas (default the issuers).")
	f.BoolVar(&s.Lookup, "service-account-lookup", s.Lookup, "Tokens in Secrets end with their Secret and their service account. Bound tokens always do.")
	f.Var(&s.MaxTokenExpiration, "service-account-max-token-expiration", "Longest life of a token that is asked for, at least 1h; longer ones are shortened (default 0s: whatever is asked for).")
	f.BoolVar(&s.ExtendTokenExpiration, "service-account-extend-token-expiration", s.ExtendTokenExpiration, "Tokens of volumes last a year, and only tell when they should have been replaced.")
	f.StringVar(&s.JWKSURI, "service-account-jwks-uri", s.JWKSURI, "https URL of the key set that the discovery document names (default "+serviceaccount.KeysPath+" of this daemon).")
	f.Var(&s.LegacyTokenCleanUpPeriod, "legacy-service-account-token-clean-up-period", "How long tokens stay that were put into Secrets by themselves and that nobody uses: then they are marked as invalid, and after as long again they are deleted.")
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
		"serviceAccounts.maxTokenExpiration", "must be 0, or between 1 hour and 2^32 seconds")
	f.check(!slices.Contains(s.Issuers, ""), "serviceAccounts.issuers", "must not hold an empty one")
	f.check(!slices.Contains(s.APIAudiences, ""), "serviceAccounts.apiAudiences", "must not hold an empty one")
	f.check(s.LegacyTokenCleanUpPeriod > 0, "serviceAccounts.legacyTokenCleanUpPeriod", "must be more than 0")
	f.check(s.JWKSURI == "" || serviceaccount.Discoverable(s.JWKSURI), "serviceAccounts.jwksURI", "must be an https URL without query and fragment")
}
