package encryption

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
)

// A provider is one encryption scheme with its key. Its prefix never changes. Its writerID changes
// only if a KMS plugin switches to another key. A provider is safe for concurrent use.
type provider interface {
	// prefix returns the prefix of stored values, or "" for identity.
	prefix() string
	// check returns an error if the provider cannot encrypt now.
	check() error
	// writerID identifies the key that encrypts new values.
	writerID() string
	// encode encrypts a value, appends the result without the prefix to b, and returns the ID of
	// the key.
	encode(b, place, value []byte) (stored []byte, writerID string)
	// decode decrypts a stored value, given without its prefix. It also returns the ID of the key.
	decode(body, place []byte) (value []byte, writerID string, err error)
}

const marker = "enc:"

// identity stores values unchanged and ignores places. Anyone with write access to the files can
// therefore move values.
type identity struct{}

func (identity) prefix() string { return "" }
func (identity) check() error   { return nil }

func (identity) writerID() string { return "" }

func (identity) encode(b, _, value []byte) ([]byte, string) { return append(b, value...), "" }

func (identity) decode(body, _ []byte) ([]byte, string, error) { return body, "", nil }

type keyProvider struct {
	begin  string // prefix of stored values
	id     string
	cipher valueCipher
}

// newKeyProvider includes a hash of the secret in the ID, to distinguish keys of the same name.
func newKeyProvider(algorithm string, key key, cipher valueCipher) *keyProvider {
	begin := marker + algorithm + ":v1:" + url.QueryEscape(key.Name) + ":"
	return &keyProvider{begin, fmt.Sprintf("%s%x", begin, sha256.Sum256(key.Secret)), cipher}
}

func (p *keyProvider) prefix() string   { return p.begin }
func (p *keyProvider) check() error     { return nil }
func (p *keyProvider) writerID() string { return p.id }

func (p *keyProvider) encode(b, place, value []byte) ([]byte, string) {
	return p.cipher.seal(b, place, value), p.id
}

func (p *keyProvider) decode(body, place []byte) ([]byte, string, error) {
	value, err := p.cipher.open(body, place)
	return value, p.id, err
}

// newProviders returns the providers of a configuration entry in order, one per key. It uses
// connect to create KMS plugins and appends them to plugins.
func newProviders(of providerConfig, connect func(kmsConfig) *plugin, plugins *[]*plugin) (made []provider, err error) {
	switch {
	case of.Identity != nil:
		return []provider{identity{}}, nil
	case of.KMS != nil:
		p := connect(*of.KMS)
		*plugins = append(*plugins, p)
		return []provider{p}, nil
	case of.AESGCM != nil:
		for _, key := range of.AESGCM.Keys {
			made = append(made, newKeyProvider("aesgcm", key, newDerivedGCM(key.Secret)))
		}
	case of.AESCBC != nil:
		for _, key := range of.AESCBC.Keys {
			cipher, err := newCBC(key.Secret)
			if err != nil {
				return nil, err
			}
			made = append(made, newKeyProvider("aescbc", key, cipher))
		}
	case of.Secretbox != nil:
		for _, key := range of.Secretbox.Keys {
			made = append(made, newKeyProvider("secretbox", key, &box{[32]byte(key.Secret)}))
		}
	default:
		return nil, errors.New("unknown encryption provider")
	}
	return made, nil
}
