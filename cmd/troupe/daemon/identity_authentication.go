package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/certs"
)

// Authentication configures the authenticators. Client certificates of the daemon's own CA and
// service account tokens are always accepted.
type Authentication struct {
	// ConfigFile replaces the OIDC settings, except SystemNames, and may replace Anonymous.
	ConfigFile    string `flag:"authentication-config"`
	ClientCAFile  string `flag:"client-ca-file"`
	TokenAuthFile string `flag:"token-auth-file"`
	Anonymous     bool   `flag:"anonymous-auth"`
	// AnonymousPaths restricts anonymous requests to these paths. An empty list allows all paths.
	AnonymousPaths []string `flag:"anonymous-auth-paths"`
	RequestHeader  RequestHeader
	OIDC           OIDC
	Webhook        TokenWebhook
}

func (a Authentication) validate(f *faults) {
	checkPaths(f, "anonymous-auth-paths", a.AnonymousPaths)
	f.check(a.ConfigFile == "" || a.OIDC.isDefault(), "authentication-config", "authentication-config file and oidc-* flags are mutually exclusive")
	a.RequestHeader.validate(f)
	a.OIDC.validate(f)
}

type authentication struct {
	base // runs the OIDC key refresh

	authenticator authn.Authenticator
	generation    policy.Generation // changes with every input of authentication and authorization
	issuers       issuers
	configMetrics *configMetrics // metrics of the configuration file; nil without a file
	clientCAs     *certs.CAs     // all CAs of client certificates, which handshakes announce
}

// Start builds the chain of authenticators. The authenticator for proxy headers comes first.
// Otherwise, a proxy's client certificate would authenticate its requests as the proxy itself.
//
// Start also registers every input of an authentication decision with a.generation. When an input
// changes, the generation changes, and connections drop their cached decisions.
func (a *authentication) Start() (err error) {
	for _, resource := range []string{"serviceaccounts", "secrets", "pods", "nodes"} { // tokens are bound to these or stored in them
		version := a.storage.objects.CollectionVersion(meta.GroupResource{Resource: resource})
		a.generation.AddSource(func() any { return version() })
	}
	c := a.config.Authentication
	var methods []authn.Authenticator
	if c.RequestHeader.ClientCAFile != "" {
		proxies, err := a.identity.authoritiesOfClients("requestheader-client-ca", certs.FileSource(c.RequestHeader.ClientCAFile))
		if err != nil {
			return fmt.Errorf("--requestheader-client-ca-file: %w", err)
		}
		a.generation.AddSource(func() any { return proxies.Pool() })
		methods = append(methods, c.RequestHeader.authenticator(proxies))
	}
	clients, err := a.identity.clientCAs(c.ClientCAFile)
	if err != nil {
		return fmt.Errorf("--client-ca-file: %w", err)
	}
	a.generation.AddSource(func() any { return clients.Pool() })
	methods = append(methods, authn.Certificates(clients.Pool, a.naming, time.Now, a.features.Enabled(features.AllowParsingUserUIDFromCertAuth)))
	config, err := a.startIssuers()
	if err != nil {
		return err
	}
	tokens, err := a.newTokenAuthenticators()
	if err != nil {
		return err
	}
	chain := authn.Bearer(authn.Union(methods...), authn.Union(tokens...))
	if enabled, paths := a.anonymous(config); enabled {
		chain = authn.Anonymous(chain, paths...)
	}
	a.authenticator = authn.Authenticated(chain)
	a.clientCAs, err = a.identity.acceptableClientCAs()
	return err
}

// anonymous reports whether anonymous requests are accepted, and on which paths. Unless config sets
// anonymous, the AlwaysAllow authorization mode rejects them, because anonymous users would have
// all permissions.
func (a *authentication) anonymous(config tree.Tree) (enabled bool, paths []string) {
	c := a.config.Authentication
	if config.Has("anonymous") {
		for _, condition := range config.Object("anonymous").Objects("conditions") {
			paths = append(paths, condition.String("path"))
		}
		return config.Object("anonymous").Bool("enabled"), paths
	}
	if c.Anonymous && a.config.Authorization.has(modeAlwaysAllow) {
		a.log.Warn("anonymous requests are rejected, because the authorization mode is AlwaysAllow")
		return false, nil
	}
	return c.Anonymous, c.AnonymousPaths
}

// newTokenAuthenticators returns the bearer token authenticators. Local ones come first, so that
// remote ones do not receive every token.
func (a *authentication) newTokenAuthenticators() ([]authn.Authenticator, error) {
	c, t := a.config.Authentication, a.identity.tokens
	var methods []authn.Authenticator
	if c.TokenAuthFile != "" {
		tokens := &tokenFile{path: c.TokenAuthFile, log: a.log}
		if err := a.identity.reloader.AddFile("token-file", c.TokenAuthFile, tokens.load); err != nil {
			return nil, fmt.Errorf("--token-auth-file: %w", err)
		}
		a.generation.AddSource(func() any { return tokens.current.Load() })
		methods = append(methods, tokens)
	}
	methods = append(methods, serviceaccount.New(serviceaccount.Options{
		Naming: a.naming, Issuers: t.issuers, Keys: t.keys, LegacyKeys: t.legacyKeys, Audiences: t.audiences,
		Lookup: a.config.ServiceAccounts.Lookup, Objects: a.storage.objects, LegacyTokenUsed: a.serverControllers.legacyTokens.Used, Now: a.now,
	}))
	if a.config.BootstrapTokens.Enabled {
		methods = append(methods, authn.BootstrapTokens(a.naming, a.storage.objects, a.now))
	}
	methods = append(methods, &a.issuers)
	if c.Webhook.ConfigFile != "" {
		webhook, err := a.newWebhookTokenAuthenticator()
		if err != nil {
			return nil, err
		}
		methods = append(methods, webhook)
	}
	return methods, nil
}

// A tokenFile authenticates static tokens from a reloadable file.
type tokenFile struct {
	path    string
	log     *slog.Logger
	current atomic.Pointer[authn.TokenFile]
}

func (t *tokenFile) Authenticate(r authn.Request) (*authn.User, error) {
	return t.current.Load().Authenticate(r)
}

func (t *tokenFile) load() error {
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	tokens, err := authn.ReadTokenFile(f, func(text string) { t.log.Warn("ignored a line of the token file", "file", t.path, "reason", text) })
	if err != nil {
		return fmt.Errorf("%s: %w", t.path, err)
	}
	t.current.Store(tokens)
	return nil
}
