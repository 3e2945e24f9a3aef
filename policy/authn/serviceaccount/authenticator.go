package serviceaccount

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// Options configures an Authenticator.
type Options struct {
	Naming *meta.Naming
	// Issuers lists the accepted values of the iss claim.
	Issuers []string
	// Keys are the keys for verifying any token. LegacyKeys are additional keys for legacy tokens.
	Keys, LegacyKeys []*Key
	// Audiences lists the audiences of this server.
	Audiences []string
	// Lookup makes legacy tokens invalid when their Secret or account is deleted. Bound tokens
	// always depend on their objects.
	Lookup  bool
	Objects Objects
	// LegacyTokenUsed, if set, is called when a legacy token is used and the last-used label of its
	// Secret must be updated. It must not block.
	LegacyTokenUsed func(namespace, secret string)
	Now             func() time.Time
}

// An Authenticator authenticates requests with service account tokens.
type Authenticator struct {
	Options
	vendorNames vendorNames
	parser      *jwt.Parser
	verified    *authn.Cache[*verifiedToken]
	rejected    *authn.Cache[error]
}

const (
	clockLeeway    = time.Minute
	maxVerified    = 1 << 15
	maxRejected    = 1 << 12
	rejectedTTL    = 10 * time.Second
	maxVerifiedTTL = 5 * time.Minute
	maxTokenLength = 16 << 10
)

// New returns an Authenticator with empty caches.
func New(o Options) *Authenticator {
	methods := make([]string, 0, len(o.Keys)) // nil would allow all
	for _, k := range slices.Concat(o.Keys, o.LegacyKeys) {
		methods = append(methods, k.method.Alg())
	}
	return &Authenticator{
		Options: o, vendorNames: newVendorNames(o.Naming),
		parser:   jwt.NewParser(jwt.WithValidMethods(methods), jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding()),
		verified: authn.NewCache[*verifiedToken](maxVerified, o.Now), rejected: authn.NewCache[error](maxRejected, o.Now),
	}
}

// verifiedToken is a token with a valid signature and valid claims. user is nil if the token is not
// for this server.
type verifiedToken struct {
	tokenInfo
	user *authn.User
}

// Authenticate returns a valid token's user. It has no opinion on tokens from other issuers.
func (a *Authenticator) Authenticate(r authn.Request) (*authn.User, error) {
	if len(r.Token) > maxTokenLength || strings.Count(r.Token, ".") != 2 {
		return nil, nil
	}
	now := a.Now()
	v, err := a.cachedOrVerify(r.Token, now)
	if v == nil {
		return nil, err
	}
	user, err := a.user(v, r, now)
	if err != nil {
		return nil, authn.FinalError{Err: err} // signed by one of our keys
	}
	return user, nil
}

// user returns the user of a verified token. It checks the validity period, audiences and bound
// objects again for each request, because the token may come from the cache.
func (a *Authenticator) user(v *verifiedToken, r authn.Request, now time.Time) (*authn.User, error) {
	if err := v.checkTime(now); err != nil {
		return nil, err
	}
	user, err := a.forAudiences(v, r.Audiences)
	if err != nil {
		return nil, err
	}
	until, err := a.validateBoundObjects(v, r.Token, now)
	if err != nil {
		return nil, err
	}
	if !until.IsZero() && (user.ValidUntil.IsZero() || until.Before(user.ValidUntil)) {
		shorter := *user
		shorter.ValidUntil = until
		return &shorter, nil
	}
	return user, nil
}

// cachedOrVerify returns a verified token, or an error if the token is invalid. It returns nil and
// no error for a token from another issuer.
func (a *Authenticator) cachedOrVerify(token string, now time.Time) (*verifiedToken, error) {
	digest := authn.DigestOf(token)
	if v, ok := a.verified.Get(digest); ok {
		return v, nil
	}
	if err, ok := a.rejected.Get(digest); ok {
		return nil, err
	}
	v, err := a.verify(token)
	if v == nil || err != nil {
		a.rejected.Put(digest, err, now.Add(rejectedTTL))
		return nil, err
	}
	a.verified.Put(digest, v, v.cacheUntil(now))
	return v, nil
}

func (v *verifiedToken) cacheUntil(now time.Time) time.Time {
	until := now.Add(maxVerifiedTTL)
	if end := time.Unix(v.expires, 0).Add(clockLeeway); v.expires != 0 && end.Before(until) {
		return end
	}
	return until
}

var (
	errExpired     = errors.New("the token has expired")
	errNotYetValid = errors.New("the token is not valid yet")
	errAudience    = errors.New("the token is for other audiences")
	errClaims      = errors.New("the token has missing or inconsistent claims")
	errCritical    = errors.New("the token requires extensions (crit)")
	errAlgorithm   = errors.New("no key has the algorithm of the token")
)

func (v *verifiedToken) checkTime(now time.Time) error {
	switch {
	case v.expires != 0 && now.Add(-clockLeeway).Unix() > v.expires:
		return errExpired
	case now.Add(clockLeeway).Unix() < v.notBefore:
		return errNotYetValid
	}
	return nil
}

func (v *verifiedToken) expiry() time.Time {
	if v.expires == 0 {
		return time.Time{}
	}
	return time.Unix(v.expires+1, 0).Add(clockLeeway)
}

func (a *Authenticator) forAudiences(v *verifiedToken, asked []string) (*authn.User, error) {
	if len(asked) == 0 {
		if v.user == nil {
			return nil, errAudience
		}
		return v.user, nil
	}
	good := authn.IntersectAudiences(asked, a.audiencesOf(v.tokenInfo))
	if len(good) == 0 {
		return nil, errAudience
	}
	user := a.vendorNames.user(v.tokenInfo)
	user.Audiences, user.ValidUntil = good, v.expiry()
	return user, nil
}

func (a *Authenticator) audiencesOf(f tokenInfo) []string {
	if len(f.audiences) == 0 {
		return a.Audiences
	}
	return f.audiences
}

// verify checks the signature and decodes the claims. It returns nil and no error for tokens from
// other issuers.
func (a *Authenticator) verify(token string) (*verifiedToken, error) {
	issuer, ok := issuerOf(token)
	legacy := issuer == a.vendorNames.legacyIssuer
	if !ok || !legacy && !slices.Contains(a.Issuers, issuer) {
		return nil, nil
	}
	claims := jwt.MapClaims{}
	if _, err := a.parser.ParseWithClaims(token, claims, a.keysFor(legacy)); err != nil {
		return nil, fmt.Errorf("service account token: %w", err)
	}
	read := a.vendorNames.read
	if legacy {
		read = a.vendorNames.readLegacy
	}
	f, ok := read(claims)
	if !ok || !f.readRegisteredClaims(claims, legacy) {
		return nil, errClaims
	}
	v := &verifiedToken{tokenInfo: f}
	if good := authn.IntersectAudiences(a.Audiences, a.audiencesOf(f)); len(good) > 0 {
		v.user = a.vendorNames.user(f)
		v.user.Audiences, v.user.ValidUntil = good, v.expiry()
	}
	return v, nil
}

// readRegisteredClaims decodes the time and audience claims. It returns false if they are invalid,
// or if a bound token lacks an expiry or audiences.
func (f *tokenInfo) readRegisteredClaims(c jwt.MapClaims, legacy bool) bool {
	audiences, err := c.GetAudience()
	if err != nil {
		return false
	}
	f.audiences = audiences
	for _, claim := range []func() (*jwt.NumericDate, error){c.GetIssuedAt, c.GetNotBefore} {
		at, err := claim()
		if err != nil {
			return false
		}
		if at != nil {
			f.notBefore = max(f.notBefore, at.Unix())
		}
	}
	end, err := c.GetExpirationTime()
	if err != nil {
		return false
	}
	if end != nil {
		f.expires = end.Unix()
	}
	return legacy || f.expires != 0 && len(f.audiences) > 0
}

// keysFor returns a Keyfunc that selects the key that the token's kid header identifies, or all
// keys if no key has this ID. It skips keys for other algorithms, and ignores keys embedded in the
// token.
func (a *Authenticator) keysFor(legacy bool) jwt.Keyfunc {
	all := a.Keys
	if legacy {
		all = slices.Concat(a.Keys, a.LegacyKeys)
	}
	return func(t *jwt.Token) (any, error) { return matchingKeys(all, t) }
}

func matchingKeys(keys []*Key, t *jwt.Token) (any, error) {
	if _, critical := t.Header["crit"]; critical {
		return nil, errCritical
	}
	if i := slices.IndexFunc(keys, func(k *Key) bool { return k.ID == t.Header["kid"] }); i >= 0 {
		keys = keys[i : i+1]
	}
	var set jwt.VerificationKeySet
	for _, k := range keys {
		if k.method.Alg() == t.Method.Alg() {
			set.Keys = append(set.Keys, k.public)
		}
	}
	if len(set.Keys) == 0 {
		return nil, errAlgorithm
	}
	return set, nil
}

func issuerOf(token string) (issuer string, ok bool) {
	_, rest, _ := strings.Cut(token, ".")
	payload, _, _ := strings.Cut(rest, ".")
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return "", false
	}
	var claims map[string]any
	if json.Unmarshal(text, &claims) != nil {
		return "", false
	}
	issuer, ok = claims["iss"].(string)
	return issuer, ok && issuer != ""
}
