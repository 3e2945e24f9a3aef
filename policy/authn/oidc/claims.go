package oidc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/policy/authn"
)

type claims map[string]any

// notBeforeLeeway is the allowed clock skew for the claim nbf.
const notBeforeLeeway = 5 * time.Minute

// validate checks a token's audience, times and required claims. It returns the token's expiration
// time.
func (c claims) validate(clientID string, required map[string]string, now time.Time) (end time.Time, err error) {
	end, ok := c.timeClaim("exp")
	switch {
	case !ok:
		return end, errors.New("the token has no expiry")
	case !now.Before(end):
		return end, errors.New("the token has expired")
	}
	if _, given := c["nbf"]; given {
		if begin, ok := c.timeClaim("nbf"); !ok || now.Add(notBeforeLeeway).Before(begin) {
			return end, errors.New("the token is not valid yet")
		}
	}
	if audience, ok := stringOrList(c["aud"]); !ok || !slices.Contains(audience, clientID) {
		return end, errors.New("the token is for another audience")
	}
	for claim, want := range required {
		if value, ok := c[claim].(string); !ok || value != want {
			return end, fmt.Errorf("the required claim %s is missing or has another value", claim)
		}
	}
	return end, nil
}

// timeClaim limits the value to the range of time.Time.
func (c claims) timeClaim(claim string) (time.Time, bool) {
	seconds, ok := c[claim].(float64)
	if !ok || math.IsNaN(seconds) || seconds < 0 {
		return time.Time{}, false
	}
	return time.Unix(int64(min(seconds, 1<<37)), 0), true
}

func stringOrList(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		all := make([]string, len(v))
		for i, item := range v {
			text, ok := item.(string)
			if !ok {
				return nil, false
			}
			all[i] = text
		}
		return all, true
	}
	return nil, false
}

const systemPrefix = "system:"

// IsSystemName reports whether a user or group name has the reserved prefix "system:".
func IsSystemName(name string) bool { return strings.HasPrefix(name, systemPrefix) }

func (c claims) user(o *Options) (*authn.User, error) {
	name, ok := c[o.UsernameClaim].(string)
	if !ok || name == "" {
		return nil, fmt.Errorf("the claim %s is not a user name", o.UsernameClaim)
	}
	if verified, given := c["email_verified"]; given && o.UsernameClaim == "email" && verified != true {
		return nil, errors.New("the email address is not verified")
	}
	user := &authn.User{Name: o.usernamePrefix() + name}
	if groups := c[o.GroupsClaim]; groups != nil && o.GroupsClaim != "" {
		_, list := groups.([]any)
		if user.Groups, ok = stringOrList(groups); !ok || !list {
			return nil, fmt.Errorf("the claim %s is not a list of groups", o.GroupsClaim)
		}
		for i := range user.Groups {
			user.Groups[i] = o.GroupsPrefix + user.Groups[i]
		}
	}
	isReserved := func(name string) bool { return IsSystemName(name) && !slices.Contains(o.SystemNames, name) }
	if isReserved(user.Name) {
		return nil, fmt.Errorf("the token has the user name %q, a reserved name that is not allowed", user.Name)
	}
	// Unlike a reserved user name, a reserved group can be dropped, which only reduces the user's
	// rights.
	user.Groups = slices.DeleteFunc(user.Groups, isReserved)
	if id, ok := c["jti"].(string); ok && id != "" {
		user.Extra = map[string][]string{o.Naming.Translate(authn.CredentialID): {"JTI=" + id}}
	}
	return user, nil
}
