package oidc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
)

// A keySet is an immutable set of signing keys.
type keySet struct {
	raw  string // as fetched
	keys []key
}

// A key is an RSA or ECDSA public key with its attributes.
type key struct {
	id, algorithm string // "" if unspecified
	public        any
}

const (
	maxKeys    = 64
	minRSABits = 2048
	maxRSABits = 8192
)

var curves = map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}

// parseKeys decodes a key set. It skips non-signing keys and keys of unsupported types.
func parseKeys(text []byte) (*keySet, error) {
	var document struct {
		Keys []struct {
			ID        string `json:"kid"`
			Type      string `json:"kty"`
			Use       string `json:"use"`
			Algorithm string `json:"alg"`
			N         string `json:"n"`
			E         string `json:"e"`
			Curve     string `json:"crv"`
			X         string `json:"x"`
			Y         string `json:"y"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, errors.New("the key set is not JSON")
	}
	set := &keySet{raw: string(text)}
	for _, k := range document.Keys {
		var public any
		switch {
		case k.Use != "" && k.Use != "sig":
		case k.Type == "RSA":
			public = rsaKey(k.N, k.E)
		case k.Type == "EC":
			public = ecdsaKey(k.Curve, k.X, k.Y)
		}
		if public != nil && len(set.keys) < maxKeys {
			set.keys = append(set.keys, key{k.ID, k.Algorithm, public})
		}
	}
	if len(set.keys) == 0 {
		return nil, errors.New("the key set has no usable key")
	}
	return set, nil
}

// rsaKey returns an *rsa.PublicKey, or nil if a parameter or the key size is invalid.
func rsaKey(modulus, exponent string) any {
	n, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(modulus, "="))
	if err != nil {
		return nil
	}
	e, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(exponent, "="))
	if err != nil || len(e) == 0 || len(e) > 4 {
		return nil
	}
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits || public.E < 3 || public.E%2 == 0 || public.E > 1<<31-1 {
		return nil
	}
	return public
}

// ecdsaKey returns an *ecdsa.PublicKey, or nil if the curve is unknown or the point is not on the
// curve.
func ecdsaKey(name, x, y string) any {
	curve := curves[name]
	if curve == nil {
		return nil
	}
	size := (curve.Params().BitSize + 7) / 8
	point := []byte{4}
	for _, text := range []string{x, y} {
		b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
		if err != nil || len(b) > size {
			return nil
		}
		point = append(append(point, make([]byte, size-len(b))...), b...)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(curve, point)
	if err != nil {
		return nil
	}
	return public
}

func (s *keySet) matching(id, algorithm string) (fitting []any) {
	for _, k := range s.keys {
		if (id == "" || k.id == "" || k.id == id) && (k.algorithm == "" || k.algorithm == algorithm) {
			fitting = append(fitting, k.public)
		}
	}
	return fitting
}
