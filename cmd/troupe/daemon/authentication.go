package daemon

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/oidc"
	"github.com/troupe-api/troupe/policy/remote"
)

// Authentication is who is let in.
type Authentication struct {
	ClientCAFile  string `json:"clientCAFile"`
	TokenAuthFile string `json:"tokenAuthFile"`
	Anonymous     bool   `json:"anonymous"`
	// AnonymousPaths, if there are any, are the only ones that are open to requests without a
	// credential.
	AnonymousPaths []string      `json:"anonymousPaths"`
	RequestHeader  RequestHeader `json:"requestHeader"`
	OIDC           OIDC          `json:"oidc"`
	Webhook        TokenWebhook  `json:"webhook"`
}

func defaultAuthentication() Authentication {
	return Authentication{
		Anonymous: true, AnonymousPaths: []string{},
		RequestHeader: defaultRequestHeader(), OIDC: defaultOIDC(), Webhook: defaultTokenWebhook(),
	}
}

func (a *Authentication) flags(f *pflag.FlagSet) {
	f.StringVar(&a.ClientCAFile, "client-ca-file", a.ClientCAFile, "PEM file of the CAs whose client certificates are accepted, beside the daemon's own.")
	f.StringVar(&a.TokenAuthFile, "token-auth-file", a.TokenAuthFile, "CSV file of bearer tokens: token,user,uid,\"group1,group2\".")
	f.BoolVar(&a.Anonymous, "anonymous-auth", a.Anonymous, "Let requests without a credential in, as system:anonymous; never with the authorization mode AlwaysAllow.")
	a.RequestHeader.flags(f)
	a.OIDC.flags(f)
	a.Webhook.flags(f)
}

func (a Authentication) validate(f *faults) {
	for _, path := range a.AnonymousPaths {
		f.check(strings.HasPrefix(path, "/"), "authentication.anonymousPaths", fmt.Sprintf("%q does not begin with /", path))
	}
	f.check(a.Anonymous || len(a.AnonymousPaths) == 0, "authentication.anonymousPaths", "goes together with authentication.anonymous")
	a.RequestHeader.validate(f)
	a.OIDC.validate(f)
	a.Webhook.validate(f)
}

// RequestHeader is which proxies are believed, and in which headers they say who asks.
type RequestHeader struct {
	ClientCAFile    string   `json:"clientCAFile"`
	AllowedNames    []string `json:"allowedNames"`
	UsernameHeaders []string `json:"usernameHeaders"`
	UIDHeaders      []string `json:"uidHeaders"`
	GroupHeaders    []string `json:"groupHeaders"`
	ExtraPrefixes   []string `json:"extraHeadersPrefix"`
}

func defaultRequestHeader() RequestHeader {
	return RequestHeader{
		AllowedNames: []string{}, UsernameHeaders: []string{}, UIDHeaders: []string{}, GroupHeaders: []string{}, ExtraPrefixes: []string{},
	}
}

func (r *RequestHeader) flags(f *pflag.FlagSet) {
	f.StringVar(&r.ClientCAFile, "requestheader-client-ca-file", r.ClientCAFile, "PEM file of the CAs of proxies: only behind a certificate of one of them are identity headers believed. Do not use these CAs for anything else.")
	f.StringSliceVar(&r.AllowedNames, "requestheader-allowed-names", r.AllowedNames, "Common names of the proxies' certificates, with commas (default any).")
	f.StringSliceVar(&r.UsernameHeaders, "requestheader-username-headers", r.UsernameHeaders, "Headers that may hold the user's name, with commas, such as X-Remote-User; the first with a value counts.")
	f.StringSliceVar(&r.UIDHeaders, "requestheader-uid-headers", r.UIDHeaders, "Headers that may hold the user's uid, with commas, such as X-Remote-Uid; the first with a value counts.")
	f.StringSliceVar(&r.GroupHeaders, "requestheader-group-headers", r.GroupHeaders, "Headers that hold groups, with commas, such as X-Remote-Group; each value is a group.")
	f.StringSliceVar(&r.ExtraPrefixes, "requestheader-extra-headers-prefix", r.ExtraPrefixes, "What names of headers with extras begin with, with commas, such as X-Remote-Extra-.")
}

func (r RequestHeader) validate(f *faults) {
	given := len(r.UsernameHeaders) > 0
	f.check((r.ClientCAFile != "") == given, "authentication.requestHeader.clientCAFile", "goes together with authentication.requestHeader.usernameHeaders")
	f.check(given || len(r.AllowedNames)+len(r.UIDHeaders)+len(r.GroupHeaders)+len(r.ExtraPrefixes) == 0,
		"authentication.requestHeader.usernameHeaders", "must be given, as other settings of proxies are")
	for _, name := range slices.Concat(r.UsernameHeaders, r.UIDHeaders, r.GroupHeaders, r.ExtraPrefixes) {
		f.check(isHeaderName(name), "authentication.requestHeader", fmt.Sprintf("%q is no name of a header", name))
	}
}

// isHeaderName tells whether s can be the name of a header.
func isHeaderName(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// OIDC is the provider whose identity tokens are accepted.
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
}

func defaultOIDC() OIDC {
	return OIDC{UsernameClaim: "sub", RequiredClaims: []string{}, SigningAlgs: []string{"RS256"}}
}

func (o *OIDC) flags(f *pflag.FlagSet) {
	f.StringVar(&o.IssuerURL, "oidc-issuer-url", o.IssuerURL, "https URL of the OpenID Connect provider whose identity tokens are accepted.")
	f.StringVar(&o.ClientID, "oidc-client-id", o.ClientID, "Client id that identity tokens must be issued for.")
	f.StringVar(&o.CAFile, "oidc-ca-file", o.CAFile, "PEM file of the CAs of the provider's certificate (default those of the machine).")
	f.StringVar(&o.UsernameClaim, "oidc-username-claim", o.UsernameClaim, "Claim that holds the user's name.")
	f.StringVar(&o.UsernamePrefix, "oidc-username-prefix", o.UsernamePrefix, "What comes before the user's name; - is nothing (default the issuer's URL and #, except for the claim email).")
	f.StringVar(&o.GroupsClaim, "oidc-groups-claim", o.GroupsClaim, "Claim that holds the user's groups, a text or a list of them.")
	f.StringVar(&o.GroupsPrefix, "oidc-groups-prefix", o.GroupsPrefix, "What comes before each group.")
	f.StringArrayVar(&o.RequiredClaims, "oidc-required-claim", o.RequiredClaims, "Claim that a token must hold, and its value, as in claim=value. May be repeated.")
	f.StringSliceVar(&o.SigningAlgs, "oidc-signing-algs", o.SigningAlgs, "Algorithms that tokens may be signed with, with commas: some of "+strings.Join(oidc.Algorithms, ", ")+".")
}

func (o OIDC) validate(f *faults) {
	f.check((o.IssuerURL == "") == (o.ClientID == ""), "authentication.oidc.issuerURL", "goes together with authentication.oidc.clientID")
	if o.IssuerURL != "" {
		f.check(oidc.IsIssuer(o.IssuerURL), "authentication.oidc.issuerURL", fmt.Sprintf("%q is no https URL without query, fragment and user", o.IssuerURL))
	}
	f.check(o.UsernameClaim != "", "authentication.oidc.usernameClaim", "must not be empty")
	for _, pair := range o.RequiredClaims {
		claim, _, ok := strings.Cut(pair, "=")
		f.check(ok && claim != "", "authentication.oidc.requiredClaims", fmt.Sprintf("%q is not of the form claim=value", pair))
	}
	f.check(len(o.SigningAlgs) > 0, "authentication.oidc.signingAlgs", "must not be empty")
	for _, name := range o.SigningAlgs {
		f.oneOf("authentication.oidc.signingAlgs", name, oidc.Algorithms...)
	}
}

// TokenWebhook is the remote that knows tokens.
type TokenWebhook struct {
	ConfigFile string   `json:"configFile"` // "" is none
	CacheTTL   Duration `json:"cacheTTL"`
	Version    string   `json:"version"`
}

func defaultTokenWebhook() TokenWebhook {
	return TokenWebhook{CacheTTL: Duration(2 * time.Minute), Version: "v1beta1"}
}

func (w *TokenWebhook) flags(f *pflag.FlagSet) {
	f.StringVar(&w.ConfigFile, "authentication-token-webhook-config-file", w.ConfigFile, "Client configuration file (kubeconfig) of the remote that is asked about bearer tokens.")
	f.Var(&w.CacheTTL, "authentication-token-webhook-cache-ttl", "How long an answer of that remote counts; 0 asks for every request.")
	f.StringVar(&w.Version, "authentication-token-webhook-version", w.Version, "Version of the TokenReview that the remote gets: v1 or v1beta1.")
}

func (w TokenWebhook) validate(f *faults) {
	f.check(w.CacheTTL >= 0, "authentication.webhook.cacheTTL", "must not be negative")
	f.oneOf("authentication.webhook.version", w.Version, "v1", "v1beta1")
}

// authenticate makes the chain of all ways to be somebody, in the order in which they are
// tried.
func (d *Daemon) authenticate(id *identity, objects policy.Objects) (authn.Authenticator, error) {
	c := d.config.Authentication
	var methods []authn.Authenticator
	if c.RequestHeader.ClientCAFile != "" {
		proxies, err := c.RequestHeader.authenticator(id)
		if err != nil {
			return nil, err
		}
		methods = append(methods, proxies)
	}
	clients, err := id.clientCAs(c.ClientCAFile)
	if err != nil {
		return nil, err
	}
	methods = append(methods, authn.Certificates(clients.Pool, d.naming, time.Now))
	tokens, err := d.tokens(objects)
	if err != nil {
		return nil, err
	}
	chain := authn.Union(append(methods, tokens...)...)
	if d.anonymous() {
		chain = authn.Anonymous(chain, c.AnonymousPaths...)
	}
	return authn.Authenticated(chain), nil
}

// anonymous tells whether requests without a credential are let in: not where everybody who
// is let in may do everything.
func (d *Daemon) anonymous() bool {
	on := d.config.Authentication.Anonymous
	if on && d.config.Authorization.has(modeAlwaysAllow) {
		d.log.Warn("requests without a credential are refused, because the authorization mode is AlwaysAllow")
		return false
	}
	return on
}

// tokens are the ways to be somebody by a bearer token.
func (d *Daemon) tokens(objects policy.Objects) ([]authn.Authenticator, error) {
	c := d.config.Authentication
	var methods []authn.Authenticator
	if c.TokenAuthFile != "" {
		tokens, err := readTokens(c.TokenAuthFile)
		if err != nil {
			return nil, err
		}
		methods = append(methods, tokens)
	}
	methods = append(methods, d.tokenAuthenticators(objects)...)
	if c.OIDC.IssuerURL != "" {
		provider, err := d.provider()
		if err != nil {
			return nil, err
		}
		methods = append(methods, provider)
	}
	if c.Webhook.ConfigFile != "" {
		webhook, err := d.tokenWebhook()
		if err != nil {
			return nil, err
		}
		methods = append(methods, webhook)
	}
	return methods, nil
}

func readTokens(path string) (*authn.Tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tokens, err := authn.ReadTokens(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tokens, nil
}

func (r RequestHeader) authenticator(id *identity) (authn.Authenticator, error) {
	proxies, err := id.proxyCAs(r.ClientCAFile)
	if err != nil {
		return nil, err
	}
	return authn.Proxy(authn.ProxyOptions{
		Roots: proxies.Pool, AllowedNames: r.AllowedNames,
		UserHeaders: r.UsernameHeaders, UIDHeaders: r.UIDHeaders, GroupHeaders: r.GroupHeaders, ExtraPrefixes: r.ExtraPrefixes,
		Now: time.Now,
	}), nil
}

// provider trusts the provider of identity tokens, whose keys are fetched in the background.
func (d *Daemon) provider() (authn.Authenticator, error) {
	c := d.config.Authentication.OIDC
	o := oidc.Options{
		IssuerURL: c.IssuerURL, ClientID: c.ClientID,
		UsernameClaim: c.UsernameClaim, UsernamePrefix: c.UsernamePrefix, GroupsClaim: c.GroupsClaim, GroupsPrefix: c.GroupsPrefix,
		RequiredClaims: map[string]string{}, Algorithms: c.SigningAlgs,
		Naming: d.naming, Now: time.Now, Log: d.log,
	}
	for _, pair := range c.RequiredClaims {
		claim, value, _ := strings.Cut(pair, "=")
		o.RequiredClaims[claim] = value
	}
	if c.CAFile != "" {
		data, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, err
		}
		o.Roots = x509.NewCertPool()
		if !o.Roots.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%s holds no certificate", c.CAFile)
		}
	}
	if slices.Contains(d.accounts.issuers, c.IssuerURL) {
		return nil, fmt.Errorf("authentication.oidc.issuerURL: %q is the issuer of service accounts", c.IssuerURL)
	}
	tokens := oidc.New(o)
	d.background.run(tokens.Run)
	return tokens, nil
}

// tokenWebhook asks the remote that knows tokens.
func (d *Daemon) tokenWebhook() (authn.Authenticator, error) {
	c := d.config.Authentication.Webhook
	service, err := remote.Load(c.ConfigFile)
	if err != nil {
		return nil, err
	}
	retry := remote.Retry{Times: 4, Pause: 500 * time.Millisecond, Factor: 1.5}
	return authn.Webhook(authn.WebhookOptions{
		Ask: func(ctx context.Context, review []byte) ([]byte, error) { return service.Ask(ctx, review, retry) },
		TTL: time.Duration(c.CacheTTL), Version: c.Version, Audiences: d.accounts.audiences, Naming: d.naming, Now: time.Now,
	}), nil
}
