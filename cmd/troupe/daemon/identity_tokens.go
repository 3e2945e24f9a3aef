package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// serviceAccountKeyFile is the name of the generated signing key in the certificate directory.
const serviceAccountKeyFile = "sa.key"

type serviceAccountTokens struct {
	boundIssuer  *serviceaccount.Issuer // of bound tokens
	secretIssuer *serviceaccount.Issuer // of tokens in Secrets
	keys         []*serviceaccount.Key  // verification keys, without duplicates
	legacyKeys   []*serviceaccount.Key  // verification keys for tokens in Secrets only
	issuers      []string
	audiences    []string
}

// loadTokenKeys loads the keys for service account tokens, and generates a key if none is
// configured. The default issuer is the name of the API's Service, so that tokens remain valid
// after the daemon's address changes.
func (id *identity) loadTokenKeys() error {
	c := id.config.ServiceAccounts
	a := &serviceAccountTokens{issuers: c.Issuers, audiences: c.APIAudiences}
	id.tokens = a
	if len(a.issuers) == 0 {
		a.issuers = []string{"https://" + id.naming.Translate("platform") + ".default.svc"}
	}
	if len(a.audiences) == 0 {
		a.audiences = a.issuers
	}
	signing, err := id.signingKeyFile()
	if err != nil {
		return err
	}
	if a.boundIssuer, err = a.newIssuer(signing, id.naming, id.memory); err != nil {
		return fmt.Errorf("--service-account-signing-key-file: %w", err)
	}
	a.secretIssuer = a.boundIssuer
	if c.PrivateKeyFile != "" {
		if a.secretIssuer, err = a.newIssuer(c.PrivateKeyFile, id.naming, id.memory); err != nil {
			return fmt.Errorf("--service-account-private-key-file: %w", err)
		}
	}
	for _, path := range c.KeyFiles {
		keys, err := readKeys(path)
		if err != nil {
			return fmt.Errorf("--service-account-key-file: %w", err)
		}
		a.addKeys(keys...)
	}
	// Older servers signed tokens in Secrets with their serving key. Accept these tokens unless key
	// files are configured.
	if len(c.KeyFiles) == 0 {
		if a.legacyKeys, err = serviceaccount.ReadKeys(id.servingKey()); err != nil {
			id.log.Debug("the serving key is not used to verify tokens", "error", err)
		}
	}
	return nil
}

// newIssuer returns an issuer that signs with the first key in a file, and adds that key for
// verification. If path is empty, it generates a key in memory.
func (a *serviceAccountTokens) newIssuer(path string, naming *meta.Naming, m *memory) (*serviceaccount.Issuer, error) {
	keys, err := readOrMakeKeys(path, m)
	if err != nil {
		return nil, err
	}
	issuer, err := serviceaccount.NewIssuer(naming, a.issuers[0], keys[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	a.addKeys(keys[0])
	return issuer, nil
}

// addKeys adds verification keys. It skips duplicates, because the published key set must list each
// key only once.
func (a *serviceAccountTokens) addKeys(keys ...*serviceaccount.Key) {
	for _, key := range keys {
		if !slices.ContainsFunc(a.keys, func(k *serviceaccount.Key) bool { return k.ID == key.ID }) {
			a.keys = append(a.keys, key)
		}
	}
}

// signingKeyFile returns the path of the signing key, or "" for a key in memory. The daemon
// generates its own key only once, because a new key would invalidate all tokens.
func (id *identity) signingKeyFile() (string, error) {
	dir, binding := id.config.certDir(), id.binding()
	if dir == "" {
		return id.config.ServiceAccounts.SigningKeyFile, nil
	}
	own := filepath.Join(dir, serviceAccountKeyFile)
	if named := id.config.ServiceAccounts.SigningKeyFile; named != "" {
		return named, binding.Release(own)
	}
	return own, binding.EnsureFile(own, serviceaccount.NewKey)
}

func readOrMakeKeys(path string, m *memory) (_ []*serviceaccount.Key, err error) {
	if path != "" {
		return readKeys(path)
	}
	if m.tokenKey == nil {
		if m.tokenKey, err = serviceaccount.NewKey(); err != nil {
			return nil, err
		}
	}
	return serviceaccount.ReadKeys(m.tokenKey)
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
