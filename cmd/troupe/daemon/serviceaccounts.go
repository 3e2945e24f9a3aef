package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/certs"
)

// ServiceAccounts is how tokens of service accounts are signed and verified.
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
}

// BootstrapTokens is whether tokens of Secrets let new members of the cluster in.
type BootstrapTokens struct {
	Enabled bool `json:"enabled"`
}

func defaultServiceAccounts() ServiceAccounts {
	return ServiceAccounts{Lookup: true, ExtendTokenExpiration: true}
}

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
}

func (b *BootstrapTokens) flags(f *pflag.FlagSet) {
	f.BoolVar(&b.Enabled, "enable-bootstrap-token-auth", b.Enabled, "Let bootstrap tokens in, which Secrets of the system's namespace hold.")
}

// The least and the most that the longest life of tokens may be.
const (
	leastTokenLife = time.Hour
	mostTokenLife  = (1 << 32) * time.Second
)

func (s ServiceAccounts) validate(f *faults) {
	longest := time.Duration(s.MaxTokenExpiration)
	f.check(longest == 0 || longest >= leastTokenLife && longest <= mostTokenLife,
		"serviceAccounts.maxTokenExpiration", "must be 0, or between 1 hour and 2^32 seconds")
	f.check(!slices.Contains(s.Issuers, ""), "serviceAccounts.issuers", "must not hold an empty one")
	f.check(!slices.Contains(s.APIAudiences, ""), "serviceAccounts.apiAudiences", "must not hold an empty one")
	f.check(s.JWKSURI == "" || serviceaccount.Discoverable(s.JWKSURI), "serviceAccounts.jwksURI", "must be an https URL without query and fragment")
}

// accounts is what the daemon knows of tokens of service accounts.
type accounts struct {
	signer    *serviceaccount.Issuer // of bound tokens
	keeper    *serviceaccount.Issuer // of those in Secrets
	keys      []*serviceaccount.Key  // that verify, each once
	issuers   []string
	audiences []string
	objects   *objects
	trust     func() []byte // PEM: what clients are to trust
}

// newAccounts reads the keys, and makes one where none is named.
func (d *Daemon) newAccounts(kinds *catalog.Catalog, trust func() []byte) (*accounts, error) {
	c := d.config.ServiceAccounts
	a := &accounts{
		issuers: c.Issuers, audiences: c.APIAudiences, trust: trust,
		objects: newObjects(d.store, kinds, d.naming, d.log),
	}
	if len(a.issuers) == 0 {
		a.issuers = []string{"https://" + d.naming.Name("platform") + ".default.svc"}
	}
	if len(a.audiences) == 0 {
		a.audiences = a.issuers
	}
	var err error
	if a.signer, err = d.issuer(a, c.SigningKeyFile, filepath.Join(d.config.certDir(), "sa.key")); err != nil {
		return nil, err
	}
	a.keeper = a.signer
	if c.PrivateKeyFile != "" {
		if a.keeper, err = d.issuer(a, c.PrivateKeyFile, ""); err != nil {
			return nil, err
		}
	}
	for _, path := range c.KeyFiles {
		keys, err := readKeys(path)
		if err != nil {
			return nil, err
		}
		a.add(keys...)
	}
	return a, nil
}

// issuer makes an issuer with the first key of the file at path or, if that is "", of the
// file at otherwise, which is made if it does not exist. The key verifies, too.
func (d *Daemon) issuer(a *accounts, path, otherwise string) (*serviceaccount.Issuer, error) {
	if path == "" {
		path = otherwise
		if err := ensureKey(path); err != nil {
			return nil, err
		}
	}
	keys, err := readKeys(path)
	if err != nil {
		return nil, err
	}
	issuer, err := serviceaccount.NewIssuer(d.naming, a.issuers[0], keys[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	a.add(keys[0])
	return issuer, nil
}

// add makes keys verify tokens.
func (a *accounts) add(keys ...*serviceaccount.Key) {
	for _, key := range keys {
		if !slices.ContainsFunc(a.keys, func(k *serviceaccount.Key) bool { return k.ID == key.ID }) {
			a.keys = append(a.keys, key)
		}
	}
}

func ensureKey(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key, err := serviceaccount.NewKey()
	if err != nil {
		return err
	}
	return certs.WriteFile(path, key)
}

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
func (d *Daemon) tokenAuthenticators(objects policy.Objects) []authn.Authenticator {
	a := d.accounts
	methods := []authn.Authenticator{serviceaccount.New(serviceaccount.Options{
		Naming: d.naming, Issuers: a.issuers, Keys: a.keys, Audiences: a.audiences,
		Lookup: d.config.ServiceAccounts.Lookup, Objects: a.objects, Now: time.Now,
	})}
	if d.config.BootstrapTokens.Enabled {
		methods = append(methods, authn.BootstrapTokens(d.naming, objects, time.Now))
	}
	return methods
}

// grantToken answers a TokenRequest.
func (d *Daemon) grantToken() http.Operation {
	g := &serviceaccount.Grantor{
		Issuer: d.accounts.signer, Objects: d.accounts.objects, Audiences: d.accounts.audiences,
		Longest: time.Duration(d.config.ServiceAccounts.MaxTokenExpiration),
		Extend:  d.config.ServiceAccounts.ExtendTokenExpiration, Now: time.Now,
	}
	return func(_ context.Context, c http.Call) (schema.Tree, error) {
		warnings, err := g.Grant(serviceaccount.Request{Kind: c.Kind, Key: c.Key, Object: c.Object, Manager: c.Manager})
		for _, text := range warnings {
			c.Warn(text)
		}
		return c.Object, err
	}
}

// discovery is the documents by which others verify tokens, by their paths; none, if the
// issuer is no address at which they could be found.
func (d *Daemon) discovery() (map[string]http.Extra, error) {
	a := d.accounts
	if !serviceaccount.Discoverable(a.issuers[0]) {
		return map[string]http.Extra{}, nil
	}
	at := d.config.ServiceAccounts.JWKSURI
	if at == "" {
		at = d.advertisedURL() + serviceaccount.KeysPath
	}
	configuration, err := serviceaccount.Configuration(a.issuers[0], at, a.keys)
	if err != nil {
		return nil, err
	}
	keys, err := serviceaccount.KeySet(a.keys)
	if err != nil {
		return nil, err
	}
	document := func(contentType string, text []byte) http.Extra {
		return http.Extra{ContentType: contentType, Write: func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		}}
	}
	return map[string]http.Extra{
		serviceaccount.ConfigurationPath: document(serviceaccount.ConfigurationType, configuration),
		serviceaccount.KeysPath:          document(serviceaccount.KeysType, keys),
	}, nil
}

// advertisedURL is where others reach the daemon.
func (d *Daemon) advertisedURL() string {
	if ip := d.config.advertised(); ip.IsValid() {
		return "https://" + netip.AddrPortFrom(ip, uint16(d.listener.Addr().(*net.TCPAddr).Port)).String()
	}
	return d.URL()
}

// Head implements serviceaccount.Objects.
func (o *objects) Head(r meta.GroupResource, namespace, name string) (meta.Head, bool) {
	k := o.kind(r)
	if k == nil {
		return meta.Head{}, false
	}
	stored, err := o.store.Get(context.Background(), request.Get{
		Kind: k, Key: meta.Key{GroupResource: k.Storage, Namespace: namespace, Name: name},
	})
	if err != nil { // there is no such object
		return meta.Head{}, false
	}
	return stored.Head, true
}
