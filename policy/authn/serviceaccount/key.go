package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// A Key verifies tokens and, if it has a private key, signs them.
type Key struct {
	// ID is the unpadded base64url SHA-256 sum of the public key in DER.
	ID     string
	public crypto.PublicKey
	signer crypto.Signer     // nil if the key only verifies
	method jwt.SigningMethod // the only method for tokens of this key
}

const minRSABits = 2048

// ReadKeys decodes all RSA and ECDSA keys in PEM data: private keys, public keys, and certificate
// keys. It skips other blocks. Data without keys is an error.
func ReadKeys(text []byte) ([]*Key, error) {
	var keys []*Key
	for n := 1; ; n++ {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		found, err := parseKey(block)
		if err != nil {
			return nil, fmt.Errorf("PEM block %d (%s): %w", n, block.Type, err)
		}
		if found == nil {
			continue
		}
		key, err := newKey(found)
		if err != nil {
			return nil, fmt.Errorf("PEM block %d (%s): %w", n, block.Type, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("has no PEM block with a key")
	}
	return keys, nil
}

// parseKey returns the key in a PEM block. It returns nil for blocks of other types.
func parseKey(block *pem.Block) (any, error) {
	switch block.Type {
	case "PRIVATE KEY":
		return x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(block.Bytes)
	case "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		return certificate.PublicKey, nil
	}
	return nil, nil
}

func newKey(of any) (*Key, error) {
	k := &Key{public: of}
	if private, ok := of.(crypto.Signer); ok {
		k.signer, k.public = private, private.Public()
	}
	var err error
	if k.method, err = methodOf(k.public); err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(k.public)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(der)
	k.ID = base64.RawURLEncoding.EncodeToString(sum[:])
	return k, nil
}

func methodOf(public crypto.PublicKey) (jwt.SigningMethod, error) {
	switch key := public.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < minRSABits {
			return nil, fmt.Errorf("an RSA key of %d bits is too short: at least %d", key.N.BitLen(), minRSABits)
		}
		return jwt.SigningMethodRS256, nil
	case *ecdsa.PublicKey:
		switch key.Curve {
		case elliptic.P256():
			return jwt.SigningMethodES256, nil
		case elliptic.P384():
			return jwt.SigningMethodES384, nil
		case elliptic.P521():
			return jwt.SigningMethodES512, nil
		}
		return nil, fmt.Errorf("the curve %s is not supported: use P-256, P-384 or P-521", key.Curve.Params().Name)
	}
	return nil, fmt.Errorf("%T is neither an RSA nor an ECDSA key", public)
}

// Signs reports whether the key has a private key.
func (k *Key) Signs() bool { return k.signer != nil }

// NewKey generates an ECDSA key and returns it in PEM (PKCS #8).
func NewKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
