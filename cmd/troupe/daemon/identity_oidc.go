package daemon

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/oidc"
)

// OIDC configures one provider of ID tokens. Tokens may claim names that begin with "system:" only
// if SystemNames lists them. Otherwise, a provider could impersonate parts of the server.
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
	for _, pair := range o.RequiredClaims {
		claim, _, ok := strings.Cut(pair, "=")
		f.check(ok && claim != "", "oidc-required-claim", fmt.Sprintf("%q is not of the form claim=value", pair))
	}
	for _, name := range o.SystemNames {
		f.check(oidc.IsSystemName(name), "oidc-allow-system-names", fmt.Sprintf("%q does not begin with system:", name))
	}
}

func (o OIDC) isDefault() bool {
	o.SystemNames = nil
	return reflect.DeepEqual(o, defaults().Authentication.OIDC)
}

func (o OIDC) configuration() (tree.Tree, error) {
	if o.IssuerURL == "" {
		return nil, nil
	}
	issuer := tree.Tree{"url": o.IssuerURL, "audiences": []any{o.ClientID}}
	if o.CAFile != "" {
		text, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("--oidc-ca-file: %w", err)
		}
		if !x509.NewCertPool().AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--oidc-ca-file: %s has no certificate", o.CAFile)
		}
		issuer["certificateAuthority"] = string(text)
	}
	prefix := o.UsernamePrefix
	switch {
	case prefix == "-":
		prefix = ""
	case prefix == "" && o.UsernameClaim != "email":
		prefix = o.IssuerURL + "#"
	}
	mappings := tree.Tree{"username": tree.Tree{"claim": o.UsernameClaim, "prefix": prefix}}
	if o.GroupsClaim != "" {
		mappings["groups"] = tree.Tree{"claim": o.GroupsClaim, "prefix": o.GroupsPrefix}
	}
	var required []any
	for _, pair := range o.RequiredClaims {
		claim, value, _ := strings.Cut(pair, "=")
		required = append(required, tree.Tree{"claim": claim, "requiredValue": value})
	}
	return tree.Tree{"jwt": []any{tree.Tree{"issuer": issuer, "claimMappings": mappings, "claimValidationRules": required}}}, nil
}

// issuers authenticates the tokens of all OIDC issuers.
type issuers struct {
	current atomic.Pointer[issuerSet]
	changes atomic.Int64 // counts changes of the configuration and of keys
}

type issuerSet struct {
	authn.Authenticator
	all  []*oidc.Authenticator
	stop context.CancelFunc
}

func (i *issuers) Authenticate(r authn.Request) (*authn.User, error) {
	return i.current.Load().Authenticate(r)
}

func (a *authentication) startIssuers() (config tree.Tree, err error) {
	a.generation.AddSource(func() any { return a.issuers.changes.Load() })
	c := a.config.Authentication
	if c.ConfigFile == "" {
		if config, err = c.OIDC.configuration(); err == nil {
			err = a.storage.kinds.ValidateConfig(configKind("authentication"), config)
		}
		if err == nil {
			err = a.setIssuers(config, c.OIDC.SigningAlgs)
		}
		return config, err
	}
	a.configMetrics, err = a.followConfig("authentication", c.ConfigFile, func(t tree.Tree) error {
		switch {
		case a.issuers.current.Load() != nil && !tree.StrictEqual(t["anonymous"], config["anonymous"]):
			return errors.New("anonymous: Forbidden: changed from initial configuration file")
		case t.Has("anonymous") && (!c.Anonymous || len(c.AnonymousPaths) > 0):
			return errors.New("anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file")
		}
		config = t
		return a.setIssuers(t, oidc.Algorithms)
	})
	return config, err
}

// setIssuers replaces the issuers. At startup, it fetches keys in the background, and tokens are
// rejected until then. Later, the previous issuers stay in use until all keys are known. An issuer
// must not also be a service account issuer, because each authenticator would reject the other's
// tokens.
func (a *authentication) setIssuers(config tree.Tree, algorithms []string) (err error) {
	ctx, stop := context.WithCancel(a.ctx)
	defer func() {
		if err != nil {
			stop()
		}
	}()
	last, next := a.issuers.current.Load(), &issuerSet{stop: stop}
	var methods []authn.Authenticator
	for n, jwt := range config.Objects("jwt") {
		url := jwt.Object("issuer").String("url")
		if own := a.identity.tokens.issuers; slices.Contains(own, url) {
			return fmt.Errorf("jwt[%d].issuer.url: Invalid value: %q: URL must not overlap with disallowed issuers: %v", n, url, own)
		}
		issuer := oidc.New(oidc.Options{
			JWT: jwt, Algorithms: algorithms, SystemNames: a.config.Authentication.OIDC.SystemNames, Expressions: a.storage.kinds.Expressions(),
			KeysChanged: func() { a.issuers.changes.Add(1) }, Naming: a.naming, Now: time.Now, Logger: a.log,
		})
		if last != nil {
			if err = issuer.Load(ctx); err != nil {
				return fmt.Errorf("jwt[%d]: %w", n, err)
			}
		}
		next.all, methods = append(next.all, issuer), append(methods, issuer)
	}
	next.Authenticator = authn.Union(methods...)
	for _, issuer := range next.all {
		a.running.Go(func() { issuer.Run(ctx) })
	}
	a.issuers.current.Store(next)
	a.issuers.changes.Add(1)
	if last != nil {
		last.stop()
	}
	return nil
}
