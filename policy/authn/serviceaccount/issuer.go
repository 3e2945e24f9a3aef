package serviceaccount

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Issuer signs tokens with one key.
type Issuer struct {
	name        string
	key         *Key
	vendorNames vendorNames
}

// NewIssuer returns an Issuer. name becomes the iss claim. key must have a private key.
func NewIssuer(naming *meta.Naming, name string, key *Key) (*Issuer, error) {
	if !key.Signs() {
		return nil, fmt.Errorf("%s is a public key and cannot sign", key.ID)
	}
	return &Issuer{name: name, key: key, vendorNames: newVendorNames(naming)}, nil
}

type tokenSpec struct {
	Account
	binding
	audiences []string
	issuedAt  time.Time
	lifetime  time.Duration
	warnAfter time.Duration // token age at which its use causes a warning; 0 means never
}

func (i *Issuer) signBound(g tokenSpec) (token, id string, err error) {
	id = uuid.NewString()
	private := tree.Tree{"namespace": g.Namespace, "serviceaccount": (&ref{g.Name, g.UID}).tree()}
	for name, to := range map[string]*ref{"pod": g.pod, "secret": g.secret, "node": g.node} {
		if to != nil {
			private[name] = to.tree()
		}
	}
	if g.warnAfter > 0 {
		private["warnafter"] = g.issuedAt.Add(g.warnAfter).Unix()
	}
	token, err = i.sign(jwt.MapClaims{
		"iss": i.name, "sub": g.Username(), "aud": g.audiences,
		"iat": g.issuedAt.Unix(), "nbf": g.issuedAt.Unix(), "exp": g.issuedAt.Add(g.lifetime).Unix(),
		"jti": id, i.vendorNames.privateClaim: private,
	})
	return token, id, err
}

// SignLegacy signs a non-expiring legacy token for a Secret.
func (i *Issuer) SignLegacy(a Account, secret string) (token string, err error) {
	return i.sign(jwt.MapClaims{
		"iss": i.vendorNames.legacyIssuer, "sub": a.Username(),
		i.vendorNames.namespace: a.Namespace, i.vendorNames.secret: secret, i.vendorNames.account: a.Name, i.vendorNames.uid: a.UID,
	})
}

func (i *Issuer) sign(claims jwt.MapClaims) (string, error) {
	t := jwt.NewWithClaims(i.key.method, claims)
	t.Header = map[string]any{"alg": i.key.method.Alg(), "kid": i.key.ID}
	return t.SignedString(i.key.signer)
}
