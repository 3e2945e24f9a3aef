package oidc

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// Algorithms lists the supported signature algorithms.
var Algorithms = []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"}

// Options configures an Authenticator.
type Options struct {
	// JWT is a valid JWTAuthenticator (kinds/api/apiserver). It has the issuer, the audiences, and
	// the mapping from claims to users.
	JWT tree.Tree
	// SystemNames lists the users and groups with the prefix "system:" that tokens may contain. Any
	// other user with this prefix is rejected, and any other group with this prefix is dropped.
	SystemNames []string
	// Algorithms lists the allowed signature algorithms, a subset of oidc.Algorithms.
	Algorithms  []string
	Expressions *expressions.Compiler
	// KeysChanged is called after the keys have changed.
	KeysChanged func()
	Naming      *meta.Naming
	Now         func() time.Time
	Logger      *slog.Logger
}

const (
	maxVerified, maxRejected = 8192, 8192
	rejectedTTL              = 10 * time.Second
)

// Authenticator authenticates requests with the ID tokens of one issuer.
type Authenticator struct {
	options   Options
	audiences []string
	*issuer
	parser   *jwt.Parser
	verified *authn.Cache[cachedResult[*authn.User]]
	rejected *authn.Cache[cachedResult[error]]
}

// A cachedResult is valid only while keySet is the current one.
type cachedResult[V any] struct {
	keySet *keySet
	value  V
}

// New returns an Authenticator. It rejects all tokens of the issuer until Run has fetched the keys.
func New(o Options) *Authenticator {
	config := o.JWT.Object("issuer")
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if text := config.String("certificateAuthority"); text != "" {
		secure.RootCAs = x509.NewCertPool()
		secure.RootCAs.AppendCertsFromPEM([]byte(text))
	}
	issuer := newIssuer(config.String("url"), config.String("discoveryURL"), &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: secure,
		TLSHandshakeTimeout: fetchTimeout, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}, o)
	return &Authenticator{
		options: o, audiences: config.Strings("audiences"), issuer: issuer, parser: jwt.NewParser(jwt.WithStrictDecoding()),
		verified: authn.NewCache[cachedResult[*authn.User]](maxVerified, o.Now), rejected: authn.NewCache[cachedResult[error]](maxRejected, o.Now),
	}
}

// errNoKeys is not cached, because the keys may be loaded before the next request.
var errNoKeys = errors.New("the OIDC issuer's keys are not loaded yet")

// Authenticate returns no opinion on tokens of other issuers.
func (t *Authenticator) Authenticate(r authn.Request) (*authn.User, error) {
	if strings.Count(r.Token, ".") != 2 {
		return nil, nil
	}
	set := t.keys()
	digest := authn.DigestOf(r.Token)
	if k, ok := t.verified.Get(digest); ok && k.keySet == set {
		return k.value, nil
	}
	if k, ok := t.rejected.Get(digest); ok && k.keySet == set {
		return nil, k.value
	}
	c := tree.Tree{}
	token, parts, err := t.parser.ParseUnverified(r.Token, jwt.MapClaims(c))
	if c["iss"] != t.url {
		return nil, nil
	}
	if set == nil {
		return nil, errNoKeys
	}
	if err != nil {
		err = errors.New("the token is malformed, or signed with an unknown algorithm")
	} else {
		err = t.verify(token, parts, &set)
	}
	var user *authn.User
	var end time.Time
	if err == nil {
		end, err = t.expiry(c)
	}
	if err == nil {
		user, err = t.user(c)
	}
	if err != nil {
		err = fmt.Errorf("OIDC: %w", err)
		t.rejected.Put(digest, cachedResult[error]{set, err}, t.options.Now().Add(rejectedTTL))
		return nil, err
	}
	user.ValidUntil = end
	t.verified.Put(digest, cachedResult[*authn.User]{set, user}, end)
	return user, nil
}

// verify checks the algorithm and signature of a token. If no key in set matches, it fetches newer
// keys and stores them in set.
func (t *Authenticator) verify(token *jwt.Token, parts []string, set **keySet) error {
	if !slices.Contains(t.options.Algorithms, token.Method.Alg()) {
		return errors.New("the token is signed with an algorithm that is not allowed")
	}
	if _, critical := token.Header["crit"]; critical {
		return errors.New("the token requires an unknown extension")
	}
	signature, err := t.parser.DecodeSegment(parts[2])
	if err != nil {
		return errors.New("the token's signature is malformed")
	}
	text := parts[0] + "." + parts[1]
	if verifySignature(token, text, signature, *set) {
		return nil
	}
	if newer := t.newerKeys(*set); newer != *set {
		*set = newer
		if verifySignature(token, text, signature, newer) {
			return nil
		}
	}
	return errors.New("the token is not signed by a key of the issuer")
}

func verifySignature(token *jwt.Token, text string, signature []byte, set *keySet) bool {
	id, _ := token.Header["kid"].(string)
	for _, key := range set.matching(id, token.Method.Alg()) {
		if method, ok := token.Method.(*jwt.SigningMethodECDSA); ok {
			if public, ok := key.(*ecdsa.PublicKey); !ok || public.Curve.Params().BitSize != method.CurveBits {
				continue
			}
		}
		if token.Method.Verify(text, signature, key) == nil {
			return true
		}
	}
	return false
}
