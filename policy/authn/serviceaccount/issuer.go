package serviceaccount

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// An Issuer signs tokens.
type Issuer struct {
	name  string
	key   *Key
	names names
}

// NewIssuer makes an issuer of that name, the claim iss of its tokens. The key must sign.
func NewIssuer(naming *meta.Naming, name string, key *Key) (*Issuer, error) {
	if !key.Signs() {
		return nil, fmt.Errorf("the key %s is a public one and signs nothing", key.ID)
	}
	return &Issuer{name: name, key: key, names: newNames(naming)}, nil
}

// A grant is a token to be signed.
type grant struct {
	Account
	binding
	audiences []string
	at        time.Time
	life      time.Duration
	warnAfter time.Duration // after which using it is worth a warning; 0: never
}

// bound signs a bound token. Its id is new.
func (i *Issuer) bound(g grant) (token string, err error) {
	private := schema.Tree{"namespace": g.Namespace, "serviceaccount": (&ref{g.Name, g.UID}).tree()}
	for name, to := range map[string]*ref{"pod": g.pod, "secret": g.secret, "node": g.node} {
		if to != nil {
			private[name] = to.tree()
		}
	}
	if g.warnAfter > 0 {
		private["warnafter"] = g.at.Add(g.warnAfter).Unix()
	}
	return i.sign(jwt.MapClaims{
		"iss": i.name, "sub": g.Username(), "aud": g.audiences,
		"iat": g.at.Unix(), "nbf": g.at.Unix(), "exp": g.at.Add(g.life).Unix(),
		"jti": uuid.NewString(), i.names.private: private,
	})
}

// Legacy signs the token of a secret. It never ends by itself.
func (i *Issuer) Legacy(a Account, secret string) (token string, err error) {
	return i.sign(jwt.MapClaims{
		"iss": i.names.legacyIssuer, "sub": a.Username(),
		i.names.namespace: a.Namespace, i.names.secret: secret, i.names.account: a.Name, i.names.uid: a.UID,
	})
}

func (i *Issuer) sign(claims jwt.MapClaims) (string, error) {
	t := jwt.NewWithClaims(i.key.method, claims)
	t.Header = map[string]any{"alg": i.key.method.Alg(), "kid": i.key.ID}
	return t.SignedString(i.key.signer)
}
