package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/policy/authn"
)

// Authentication says by which methods users are authenticated. Certificates of the daemon's own CA and
// tokens of its service accounts are always accepted.
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

// defaultAuthentication lets anonymous requests in; what they may do is up to authorization. Lists are empty and not nil,
// so that they are written as lists.
func defaultAuthentication() Authentication {
	return Authentication{
		Anonymous: true, AnonymousPaths: []string{},
		RequestHeader: defaultRequestHeader(), OIDC: defaultOIDC(), Webhook: defaultTokenWebhook(),
	}
}

// flags binds the settings of this section and of the sections in it, in the order of the help text.
func (a *Authentication) flags(f *pflag.FlagSet) {
	f.StringVar(&a.ClientCAFile, "client-ca-file", a.ClientCAFile, "PEM file of the CAs whose client certificates are accepted, beside the daemon's own.")
	f.StringVar(&a.TokenAuthFile, "token-auth-file", a.TokenAuthFile, "CSV file of bearer tokens: token,user,uid,\"group1,group2\".")
	f.BoolVar(&a.Anonymous, "anonymous-auth", a.Anonymous, "Let requests without a credential in, as system:anonymous; never with the authorization mode AlwaysAllow.")
	a.RequestHeader.flags(f)
	a.OIDC.flags(f)
	a.Webhook.flags(f)
}

// Files are not read here but at the start, whose errors name the flag.
func (a Authentication) validate(f *faults) {
	for _, path := range a.AnonymousPaths {
		f.check(strings.HasPrefix(path, "/"), "authentication.anonymousPaths", fmt.Sprintf("%q does not begin with /", path))
	}
	f.check(a.Anonymous || len(a.AnonymousPaths) == 0, "authentication.anonymousPaths", "goes together with authentication.anonymous")
	a.RequestHeader.validate(f)
	a.OIDC.validate(f)
	a.Webhook.validate(f)
}

// newAuthenticator makes the chain of all methods of authentication, in the order in which they are tried.
// A proxy's headers come first, because the proxy's own certificate would otherwise authenticate it as the
// user. What decisions depend on is added to the generation, by whose change cached decisions end.
func (d *Daemon) newAuthenticator(id *identity) (authn.Authenticator, error) {
	c := d.config.Authentication
	var methods []authn.Authenticator
	if c.RequestHeader.ClientCAFile != "" {
		proxies, err := id.proxyCAs(c.RequestHeader.ClientCAFile)
		if err != nil {
			return nil, fmt.Errorf("--requestheader-client-ca-file: %w", err)
		}
		d.policyGeneration.AddSource(func() any { return proxies.Pool() })
		methods = append(methods, c.RequestHeader.authenticator(proxies))
	}
	clients, err := id.clientCAs(c.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("--client-ca-file: %w", err)
	}
	d.policyGeneration.AddSource(func() any { return clients.Pool() })
	methods = append(methods, authn.Certificates(clients.Pool, d.naming, time.Now, d.features.Enabled(features.AllowParsingUserUIDFromCertAuth)))
	tokens, err := d.newTokenAuthenticator()
	if err != nil {
		return nil, err
	}
	chain := authn.Bearer(authn.Union(methods...), authn.Union(tokens...))
	if d.newAnonymousAuthenticator() {
		chain = authn.Anonymous(chain, c.AnonymousPaths...)
	}
	return authn.Authenticated(chain), nil
}

// newAnonymousAuthenticator tells whether requests without a credential are let in: not where everybody who
// is let in may do everything.
func (d *Daemon) newAnonymousAuthenticator() bool {
	on := d.config.Authentication.Anonymous
	if on && d.config.Authorization.has(modeAlwaysAllow) {
		d.log.Warn("requests without a credential are refused, because the authorization mode is AlwaysAllow")
		return false
	}
	return on
}

// newTokenAuthenticator returns the methods of authentication by bearer token. Those that decide locally
// come before those that ask somebody, who would otherwise see every token.
func (d *Daemon) newTokenAuthenticator() ([]authn.Authenticator, error) {
	c := d.config.Authentication
	var methods []authn.Authenticator
	if c.TokenAuthFile != "" {
		tokens := &tokenFile{path: c.TokenAuthFile, log: d.log}
		if err := d.identity.reloader.AddFile("token-file", c.TokenAuthFile, tokens.load); err != nil {
			return nil, fmt.Errorf("--token-auth-file: %w", err)
		}
		d.policyGeneration.AddSource(func() any { return tokens.current.Load() })
		methods = append(methods, tokens)
	}
	methods = append(methods, d.tokenAuthenticators()...)
	if c.OIDC.IssuerURL != "" {
		provider, err := d.newOIDCAuthenticator()
		if err != nil {
			return nil, err
		}
		methods = append(methods, provider)
	}
	if c.Webhook.ConfigFile != "" {
		webhook, err := d.newWebhookTokenAuthenticator()
		if err != nil {
			return nil, err
		}
		methods = append(methods, webhook)
	}
	return methods, nil
}

// A tokenFile authenticates by the tokens that were last read from a file.
type tokenFile struct {
	path    string
	log     *slog.Logger
	current atomic.Pointer[authn.TokenFile]
}

// Authenticate implements authn.Authenticator.
func (t *tokenFile) Authenticate(r authn.Request) (*authn.User, error) {
	return t.current.Load().Authenticate(r)
}

func (t *tokenFile) load() error {
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	tokens, err := authn.ReadTokenFile(f, func(text string) { t.log.Warn("a line of the token file is ignored", "file", t.path, "reason", text) })
	if err != nil {
		return fmt.Errorf("%s: %w", t.path, err)
	}
	t.current.Store(tokens)
	return nil
}
