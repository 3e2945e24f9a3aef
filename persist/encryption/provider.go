package encryption

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
)

// A provider is one way to encrypt values. Many goroutines may use one. The prefix never changes; the writerID of a
// KMS plugin does.
type provider interface {
	// prefix is what its values begin with; "" is that of identity.
	prefix() string
	// check answers why it cannot encrypt now.
	check() error
	// writerID identifies the key that values are encrypted with now.
	writerID() string
	// encode appends a value as it is stored after the prefix. writerID is that of the key that it has used.
	encode(b, place, value []byte) (stored []byte, writerID string)
	// decode answers the value of what is stored after the prefix.
	decode(body, place []byte) (value []byte, writerID string, err error)
}

// marker begins every encrypted value.
const marker = "enc:"

// identity stores values as they are. It ignores places: a value in clear can be moved by whoever can write files.
type identity struct{}

func (identity) prefix() string { return "" }
func (identity) check() error   { return nil }

func (identity) writerID() string { return "" }

func (identity) encode(b, _, value []byte) ([]byte, string) { return append(b, value...), "" }

func (identity) decode(body, _ []byte) ([]byte, string, error) { return body, "", nil }

// A keyProvider encrypts with a key of the configuration.
type keyProvider struct {
	begin  string // its prefix
	id     string
	cipher valueCipher
}

// newKeyProvider makes the provider of a key. Its id tells keys of the same name apart.
func newKeyProvider(algorithm string, key keyFile, cipher valueCipher) *keyProvider {
	begin := marker + algorithm + ":v1:" + url.QueryEscape(key.Name) + ":"
	return &keyProvider{begin, fmt.Sprintf("%s%x", begin, sha256.Sum256(key.secret)), cipher}
}

func (p *keyProvider) prefix() string   { return p.begin }
func (p *keyProvider) check() error     { return nil }
func (p *keyProvider) writerID() string { return p.id }

// encode implements provider. A key of the configuration is always there, so check has nothing to say.
func (p *keyProvider) encode(b, place, value []byte) ([]byte, string) {
	return p.cipher.seal(b, place, value), p.id
}

// decode implements provider.
func (p *keyProvider) decode(body, place []byte) ([]byte, string, error) {
	value, err := p.cipher.open(body, place)
	return value, p.id, err
}

// newProviders makes the providers of an entry, one for each key, in their order. plugins gets those of the KMS. A
// KMS plugin is made by connect; an entry of another kind needs nothing but its keys.
func newProviders(of providerConfig, connect func(kmsFile) *plugin, plugins *[]*plugin) (made []provider, err error) {
	switch {
	case of.Identity != nil:
		return []provider{identity{}}, nil
	case of.KMS != nil:
		p := connect(*of.KMS)
		*plugins = append(*plugins, p)
		return []provider{p}, nil
	case of.AESGCM != nil:
		for _, key := range of.AESGCM.Keys {
			made = append(made, newKeyProvider("aesgcm", key, newDerivedGCM(key.secret)))
		}
	case of.AESCBC != nil:
		for _, key := range of.AESCBC.Keys {
			cipher, err := newCBC(key.secret)
			if err != nil {
				return nil, err
			}
			made = append(made, newKeyProvider("aescbc", key, cipher))
		}
	case of.Secretbox != nil:
		for _, key := range of.Secretbox.Keys {
			made = append(made, newKeyProvider("secretbox", key, &box{[32]byte(key.secret)}))
		}
	default:
		return nil, errors.New("an encryption provider of no kind")
	}
	return made, nil
}
