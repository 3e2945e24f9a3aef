package daemon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/policy/authn/oidc"
	"github.com/troupe-api/troupe/policy/certs"
)

// OIDC configures the provider of ID tokens. Its tokens may claim names that begin with "system:"
// only if SystemNames lists them. Otherwise the provider could impersonate parts of the server.
type OIDC struct {
	IssuerURL      string   `flag:"oidc-issuer-url"` // "" disables it
	ClientID       string   `flag:"oidc-client-id"`
	CAFile         string   `flag:"oidc-ca-file"` // "" uses the system's CAs
	UsernameClaim  string   `flag:"oidc-username-claim"`
	UsernamePrefix string   `flag:"oidc-username-prefix"`
	GroupsClaim    string   `flag:"oidc-groups-claim"`
	GroupsPrefix   string   `flag:"oidc-groups-prefix"`
	RequiredClaims []string `flag:"oidc-required-claim"` // claim=value
	SigningAlgs    []string `flag:"oidc-signing-algs"`
	SystemNames    []string `flag:"oidc-allow-system-names"` // users and groups that tokens may claim
}

func (o OIDC) validate(f *faults) {
	f.check(o.IssuerURL == "" || oidc.IsIssuer(o.IssuerURL), "oidc-issuer-url", fmt.Sprintf("%q is not an https URL without query, fragment and user", o.IssuerURL))
	for _, pair := range o.RequiredClaims {
		claim, _, ok := strings.Cut(pair, "=")
		f.check(ok && claim != "", "oidc-required-claim", fmt.Sprintf("%q is not of the form claim=value", pair))
	}
	for _, name := range o.SystemNames {
		f.check(oidc.IsSystemName(name), "oidc-allow-system-names", fmt.Sprintf("%q does not begin with system:", name))
	}
}

// startOIDC starts the OIDC authenticator, which fetches keys in the background and rejects tokens
// until the keys have arrived. The issuer must not also be a service account issuer, because each
// authenticator would reject the other's tokens.
func (a *authentication) startOIDC() error {
	c := a.config.Authentication.OIDC
	o := oidc.Options{
		IssuerURL: c.IssuerURL, ClientID: c.ClientID,
		UsernameClaim: c.UsernameClaim, UsernamePrefix: c.UsernamePrefix, GroupsClaim: c.GroupsClaim, GroupsPrefix: c.GroupsPrefix,
		RequiredClaims: map[string]string{}, Algorithms: c.SigningAlgs, SystemNames: c.SystemNames,
		Naming: a.naming, Now: time.Now, Logger: a.log,
	}
	for _, pair := range c.RequiredClaims {
		claim, value, _ := strings.Cut(pair, "=")
		o.RequiredClaims[claim] = value
	}
	if c.CAFile != "" {
		roots, err := certs.NewCAs(certs.FileSource(c.CAFile))
		if err != nil {
			return fmt.Errorf("--oidc-ca-file: %w", err)
		}
		o.Roots = roots.Pool()
	}
	if slices.Contains(a.identity.tokens.issuers, c.IssuerURL) {
		return fmt.Errorf("oidc-issuer-url: %q is the issuer of service accounts", c.IssuerURL)
	}
	a.oidc = oidc.New(o)
	a.run(a.oidc.Run)
	a.generation.AddSource(a.oidc.KeySetID)
	return nil
}
