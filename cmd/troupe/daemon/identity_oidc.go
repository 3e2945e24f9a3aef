package daemon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy/authn/oidc"
	"github.com/troupe-api/troupe/policy/certs"
)

// OIDC is the provider whose identity tokens are accepted. SystemNames bound what a provider can claim:
// with a name that begins with system: a token could become part of the server.
type OIDC struct {
	IssuerURL      string   `json:"issuerURL"` // "" is none
	ClientID       string   `json:"clientID"`
	CAFile         string   `json:"caFile"` // "" is the CAs of the machine
	UsernameClaim  string   `json:"usernameClaim"`
	UsernamePrefix string   `json:"usernamePrefix"`
	GroupsClaim    string   `json:"groupsClaim"`
	GroupsPrefix   string   `json:"groupsPrefix"`
	RequiredClaims []string `json:"requiredClaims"` // claim=value
	SigningAlgs    []string `json:"signingAlgs"`
	SystemNames    []string `json:"systemNames"` // of users and groups, which tokens may give nobody else
}

// defaultOIDC has no issuer, so no identity token is accepted. No name of the system may come from a token unless it is
// listed: a provider could else make anybody a member of system:masters.
func defaultOIDC() OIDC {
	return OIDC{UsernameClaim: "sub", RequiredClaims: []string{}, SigningAlgs: []string{"RS256"}, SystemNames: []string{}}
}

// flags binds the section. A required claim is an array flag, since its value may hold commas.
func (o *OIDC) flags(f *pflag.FlagSet) {
	f.StringVar(&o.IssuerURL, "oidc-issuer-url", o.IssuerURL, "https URL of the OpenID Connect provider whose identity tokens are accepted.")
	f.StringVar(&o.ClientID, "oidc-client-id", o.ClientID, "Client id that identity tokens must be issued for.")
	f.StringVar(&o.CAFile, "oidc-ca-file", o.CAFile, "PEM file of the CAs of the provider's certificate (default those of the machine).")
	f.StringVar(&o.UsernameClaim, "oidc-username-claim", o.UsernameClaim, "Claim that holds the user's name.")
	f.StringVar(&o.UsernamePrefix, "oidc-username-prefix", o.UsernamePrefix, "What comes before the user's name; - is nothing (default the issuer's URL and #, except for the claim email).")
	f.StringVar(&o.GroupsClaim, "oidc-groups-claim", o.GroupsClaim, "Claim that holds the user's groups, a list of texts.")
	f.StringVar(&o.GroupsPrefix, "oidc-groups-prefix", o.GroupsPrefix, "What comes before each group.")
	f.StringArrayVar(&o.RequiredClaims, "oidc-required-claim", o.RequiredClaims, "Claim that a token must hold, and its value, as in claim=value. May be repeated.")
	f.StringSliceVar(&o.SigningAlgs, "oidc-signing-algs", o.SigningAlgs, "Algorithms that tokens may be signed with, with commas: some of "+strings.Join(oidc.Algorithms, ", ")+".")
	f.StringSliceVar(&o.SystemNames, "oidc-allow-system-names", o.SystemNames, "Users and groups beginning with system: that tokens may name, prefixes included, with commas. Tokens that name others are refused.")
}

// A setting without a provider is an error, for it would protect nothing.
func (o OIDC) validate(f *faults) {
	f.check((o.IssuerURL == "") == (o.ClientID == ""), "authentication.oidc.issuerURL", "goes together with authentication.oidc.clientID")
	for _, setting := range []struct {
		key   string
		given bool
	}{
		{"caFile", o.CAFile != ""}, {"usernamePrefix", o.UsernamePrefix != ""}, {"groupsClaim", o.GroupsClaim != ""},
		{"groupsPrefix", o.GroupsPrefix != ""}, {"requiredClaims", len(o.RequiredClaims) > 0}, {"systemNames", len(o.SystemNames) > 0},
	} {
		f.check(!setting.given || o.IssuerURL != "" || o.ClientID != "", "authentication.oidc.issuerURL", "must be given with authentication.oidc."+setting.key)
	}
	if o.IssuerURL != "" {
		f.check(oidc.IsIssuer(o.IssuerURL), "authentication.oidc.issuerURL", fmt.Sprintf("%q is no https URL without query, fragment and user", o.IssuerURL))
	}
	f.check(o.UsernameClaim != "", "authentication.oidc.usernameClaim", "must not be empty")
	for _, pair := range o.RequiredClaims {
		claim, _, ok := strings.Cut(pair, "=")
		f.check(ok && claim != "", "authentication.oidc.requiredClaims", fmt.Sprintf("%q is not of the form claim=value", pair))
	}
	for _, name := range o.SystemNames {
		f.check(oidc.IsSystemName(name), "authentication.oidc.systemNames", fmt.Sprintf("%q does not begin with system:", name))
	}
	f.check(len(o.SigningAlgs) > 0, "authentication.oidc.signingAlgs", "must not be empty")
	for _, name := range o.SigningAlgs {
		f.oneOf("authentication.oidc.signingAlgs", name, oidc.Algorithms...)
	}
}

// startOIDC trusts the provider of identity tokens, whose keys are fetched in the background.
// The daemon starts although the provider cannot be reached, and refuses its tokens until it can. Two
// authenticators of one issuer would each refuse the other's tokens.
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
		return fmt.Errorf("authentication.oidc.issuerURL: %q is the issuer of service accounts", c.IssuerURL)
	}
	a.oidc = oidc.New(o)
	a.run(a.oidc.Run)
	a.generation.AddSource(a.oidc.KeySetID)
	return nil
}
