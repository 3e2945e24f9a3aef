package daemon

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// serviceAccountKeyFile is the file, in the directory of certificates, of the key that is made where none is named.
const serviceAccountKeyFile = "sa.key"

// serviceAccountTokens is what the daemon knows of tokens of service accounts.
type serviceAccountTokens struct {
	boundIssuer  *serviceaccount.Issuer // of bound tokens
	secretIssuer *serviceaccount.Issuer // of those in Secrets
	keys         []*serviceaccount.Key  // that verify, each once
	legacyKeys   []*serviceaccount.Key  // that verify tokens in Secrets only
	issuers      []string
	audiences    []string
	trustBundle  func() []byte // PEM: what clients are to trust
}

// loadServiceAccountKeys reads the keys of tokens of service accounts, and makes one where none is named.
func (d *Daemon) loadServiceAccountKeys() (err error) {
	if d.serviceAccountTokens, err = d.newServiceAccountTokens(d.identity); err != nil {
		return withAdvice(fmt.Errorf("keys of service accounts: %w", err))
	}
	return nil
}

// newServiceAccountTokens reads the keys, and makes one where none is named. The default issuer is the name
// of the API's Service, so tokens stay valid when the address of the daemon changes.
func (d *Daemon) newServiceAccountTokens(id *identity) (*serviceAccountTokens, error) {
	c := d.config.ServiceAccounts
	a := &serviceAccountTokens{issuers: c.Issuers, audiences: c.APIAudiences, trustBundle: id.trustBundle}
	if len(a.issuers) == 0 {
		a.issuers = []string{"https://" + d.naming.Translate("platform") + ".default.svc"}
	}
	if len(a.audiences) == 0 {
		a.audiences = a.issuers
	}
	signing, err := d.signingKeyFile()
	if err != nil {
		return nil, err
	}
	if a.boundIssuer, err = d.newTokenIssuer(a, signing); err != nil {
		return nil, fmt.Errorf("--service-account-signing-key-file: %w", err)
	}
	// Unless another key is named, one key signs both sorts of tokens.
	a.secretIssuer = a.boundIssuer
	if c.PrivateKeyFile != "" {
		if a.secretIssuer, err = d.newTokenIssuer(a, c.PrivateKeyFile); err != nil {
			return nil, fmt.Errorf("--service-account-private-key-file: %w", err)
		}
	}
	for _, path := range c.KeyFiles {
		keys, err := readKeys(path)
		if err != nil {
			return nil, fmt.Errorf("--service-account-key-file: %w", err)
		}
		a.addKeys(keys...)
	}
	// Older servers signed tokens in Secrets with their serving key. Whoever names key files has said which keys count.
	if len(c.KeyFiles) == 0 {
		// A key that can sign no tokens has signed none.
		if a.legacyKeys, err = serviceaccount.ReadKeys(id.servingKey()); err != nil {
			d.log.Debug("the serving key verifies no tokens", "error", err)
		}
	}
	return a, nil
}

// newTokenIssuer makes an issuer with the first key of the file at path or, if that is "", with a new one, which is
// kept nowhere. The key verifies, too. A file may hold several keys; the first signs.
func (d *Daemon) newTokenIssuer(a *serviceAccountTokens, path string) (*serviceaccount.Issuer, error) {
	keys, err := readOrMakeKeys(path)
	if err != nil {
		return nil, err
	}
	issuer, err := serviceaccount.NewIssuer(d.naming, a.issuers[0], keys[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	a.addKeys(keys[0])
	return issuer, nil
}

// addKeys makes keys verify tokens. The same key often is in several files, and the key set that others
// read must name it once.
func (a *serviceAccountTokens) addKeys(keys ...*serviceaccount.Key) {
	for _, key := range keys {
		if !slices.ContainsFunc(a.keys, func(k *serviceaccount.Key) bool { return k.ID == key.ID }) {
			a.keys = append(a.keys, key)
		}
	}
}

// signingKeyFile returns the file of the key that signs tokens, "" for none. The daemon's own is made
// once and kept, because another key would invalidate all tokens.
func (d *Daemon) signingKeyFile() (string, error) {
	dir, binding := d.config.certDir(), d.binding()
	if dir == "" {
		return d.config.ServiceAccounts.SigningKeyFile, nil
	}
	own := filepath.Join(dir, serviceAccountKeyFile)
	if named := d.config.ServiceAccounts.SigningKeyFile; named != "" {
		return named, binding.Release(own)
	}
	return own, binding.EnsureFile(own, serviceaccount.NewKey)
}

// readOrMakeKeys reads the keys of a file, or makes one if there is no file.
func readOrMakeKeys(path string) ([]*serviceaccount.Key, error) {
	if path != "" {
		return readKeys(path)
	}
	key, err := serviceaccount.NewKey()
	if err != nil {
		return nil, err
	}
	return serviceaccount.ReadKeys(key)
}

// readKeys reads the keys of a PEM file, public or private. An error names the file, as several may be given.
func readKeys(path string) ([]*serviceaccount.Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	keys, err := serviceaccount.ReadKeys(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// tokenAuthenticators are those of service accounts and, if they are wanted, of bootstrap
// tokens. None of them has an opinion on tokens of another sort.
func (d *Daemon) tokenAuthenticators() []authn.Authenticator {
	a := d.serviceAccountTokens
	methods := []authn.Authenticator{serviceaccount.New(serviceaccount.Options{
		Naming: d.naming, Issuers: a.issuers, Keys: a.keys, LegacyKeys: a.legacyKeys, Audiences: a.audiences,
		Lookup: d.config.ServiceAccounts.Lookup, Objects: d.objects, LegacyTokenUsed: d.legacyTokens.Used, Now: d.now,
	})}
	if d.config.BootstrapTokens.Enabled {
		methods = append(methods, authn.BootstrapTokens(d.naming, d.objects, d.now))
	}
	return methods
}

// tokenRequestOperation answers a TokenRequest.
func (d *Daemon) tokenRequestOperation() http.Operation {
	g := &serviceaccount.TokenRequestHandler{
		Issuer: d.serviceAccountTokens.boundIssuer, Objects: d.objects, Audiences: d.serviceAccountTokens.audiences,
		MaxExpiration:    time.Duration(d.config.ServiceAccounts.MaxTokenExpiration),
		ExtendExpiration: d.config.ServiceAccounts.ExtendTokenExpiration, Now: d.now,
	}
	issued := strings.Replace(d.naming.Translate(authn.CredentialID), "/", "/issued-", 1)
	request := func(c http.OperationRequest) serviceaccount.TokenRequest {
		return serviceaccount.TokenRequest{
			Kind: c.Kind, Key: c.Key, Object: c.Object, Manager: c.Manager, Issued: func(id string) { c.Annotate(issued, id) },
		}
	}
	return http.Operation{
		Complete: func(c http.OperationRequest) error { return g.Complete(request(c)) },
		Answer: func(_ context.Context, c http.OperationRequest) (tree.Tree, error) {
			warnings, err := g.CreateToken(request(c))
			for _, text := range warnings {
				c.Warn(text)
			}
			return c.Object, err
		},
	}
}

// oidcDiscovery is the documents by which others verify tokens, by their paths; none, if the issuer is no
// address at which they could be found. They are made once, since keys do not change while the daemon runs.
func (d *Daemon) oidcDiscovery() (map[string]http.ExtraRoute, error) {
	a := d.serviceAccountTokens
	// The first issuer is the one in new tokens; for the others, documents are published by whoever they belong to.
	if !serviceaccount.Discoverable(a.issuers[0]) {
		return map[string]http.ExtraRoute{}, nil
	}
	at := d.config.ServiceAccounts.JWKSURI
	if at == "" {
		at = d.advertisedURL() + serviceaccount.KeysPath
	}
	configuration, err := serviceaccount.DiscoveryDocument(a.issuers[0], at, a.keys)
	if err != nil {
		return nil, err
	}
	keys, err := serviceaccount.KeySet(a.keys)
	if err != nil {
		return nil, err
	}
	document := func(contentType string, text []byte) http.ExtraRoute {
		return http.ExtraRoute{ContentType: contentType, Write: func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		}}
	}
	return map[string]http.ExtraRoute{
		serviceaccount.DiscoveryPath: document(serviceaccount.DiscoveryType, configuration),
		serviceaccount.KeysPath:      document(serviceaccount.KeysType, keys),
	}, nil
}
