package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
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
}

// loadTokenKeys reads the keys of tokens of service accounts, and makes one where none is named. The default issuer is
// the name of the API's Service, so tokens stay valid when the address of the daemon changes.
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
	if a.boundIssuer, err = a.newIssuer(signing, id.naming); err != nil {
		return fmt.Errorf("--service-account-signing-key-file: %w", err)
	}
	// Unless another key is named, one key signs both sorts of tokens.
	a.secretIssuer = a.boundIssuer
	if c.PrivateKeyFile != "" {
		if a.secretIssuer, err = a.newIssuer(c.PrivateKeyFile, id.naming); err != nil {
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
	// Older servers signed tokens in Secrets with their serving key. Whoever names key files has said which keys count.
	if len(c.KeyFiles) == 0 {
		// A key that can sign no tokens has signed none.
		if a.legacyKeys, err = serviceaccount.ReadKeys(id.servingKey()); err != nil {
			id.log.Debug("the serving key verifies no tokens", "error", err)
		}
	}
	return nil
}

// newIssuer makes an issuer with the first key of the file at path or, if that is "", with a new one, which is
// kept nowhere. The key verifies, too. A file may hold several keys; the first signs.
func (a *serviceAccountTokens) newIssuer(path string, naming *meta.Naming) (*serviceaccount.Issuer, error) {
	keys, err := readOrMakeKeys(path)
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
