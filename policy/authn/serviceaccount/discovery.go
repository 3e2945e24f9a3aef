package serviceaccount

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/url"
	"slices"
	"strings"
)

const (
	DiscoveryPath = "/.well-known/openid-configuration"
	KeysPath      = "/openid/v1/jwks"
	DiscoveryType = "application/json"
	KeysType      = "application/jwk-set+json"
)

// DiscoveryDocument returns the discovery document of an issuer (OpenID Connect Discovery 1.0,
// section 3). keys is the URL at which the issuer publishes its key set.
func DiscoveryDocument(issuer, keys string, all []*Key) ([]byte, error) {
	var algorithms []string
	for _, k := range all {
		if alg := k.method.Alg(); !slices.Contains(algorithms, alg) {
			algorithms = append(algorithms, alg)
		}
	}
	slices.Sort(algorithms)
	return json.Marshal(struct {
		Issuer     string   `json:"issuer"`
		Keys       string   `json:"jwks_uri"`
		Responses  []string `json:"response_types_supported"`
		Subjects   []string `json:"subject_types_supported"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}{issuer, keys, []string{"id_token"}, []string{"public"}, algorithms})
}

// Discoverable reports whether other services can fetch the issuer's discovery documents. The
// issuer must be an https URL without query or fragment.
func Discoverable(issuer string) bool {
	u, err := url.Parse(issuer)
	return err == nil && u.Scheme == "https" && u.Host != "" && !strings.ContainsAny(issuer, "?#")
}

// A jsonWebKey is a public key (RFC 7517 and RFC 7518).
type jsonWebKey struct {
	Use   string `json:"use"`
	Type  string `json:"kty"`
	ID    string `json:"kid"`
	Curve string `json:"crv,omitempty"`
	Alg   string `json:"alg"`
	N     string `json:"n,omitempty"`
	E     string `json:"e,omitempty"`
	X     string `json:"x,omitempty"`
	Y     string `json:"y,omitempty"`
}

// KeySet returns the JSON Web Key Set of all public keys.
func KeySet(all []*Key) ([]byte, error) {
	set := struct {
		Keys []jsonWebKey `json:"keys"`
	}{[]jsonWebKey{}}
	for _, k := range all {
		w := jsonWebKey{Use: "sig", ID: k.ID, Alg: k.method.Alg()}
		switch public := k.public.(type) {
		case *rsa.PublicKey:
			w.Type = "RSA"
			w.N, w.E = base64URL(public.N.Bytes()), base64URL(big.NewInt(int64(public.E)).Bytes())
		case *ecdsa.PublicKey:
			point, err := public.Bytes() // 4, then both coordinates at full length
			if err != nil {
				return nil, err
			}
			half := len(point) / 2
			w.Type, w.Curve = "EC", public.Curve.Params().Name
			w.X, w.Y = base64URL(point[1:1+half]), base64URL(point[1+half:])
		}
		set.Keys = append(set.Keys, w)
	}
	return json.Marshal(set)
}

func base64URL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
