package oidc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

// notBeforeLeeway is the allowed clock skew for the claim nbf.
const notBeforeLeeway = 5 * time.Minute

// expiry checks a token's audience and times, and returns its expiration time.
func (t *Authenticator) expiry(c tree.Tree) (end time.Time, err error) {
	now := t.options.Now()
	end, ok := timeClaim(c["exp"])
	switch {
	case !ok:
		return end, errors.New("the token has no expiry")
	case !now.Before(end):
		return end, errors.New("the token has expired")
	}
	if value, given := c["nbf"]; given {
		if begin, ok := timeClaim(value); !ok || now.Add(notBeforeLeeway).Before(begin) {
			return end, errors.New("the token is not valid yet")
		}
	}
	if audiences, ok := stringOrList(c["aud"]); !ok || len(authn.IntersectAudiences(audiences, t.audiences)) == 0 {
		return end, errors.New("the token is for another audience")
	}
	return end, nil
}

// timeClaim returns the time in a numeric claim, limited to the range of time.Time.
func timeClaim(v any) (time.Time, bool) {
	seconds, ok := v.(float64)
	if !ok || math.IsNaN(seconds) || seconds < 0 {
		return time.Time{}, false
	}
	return time.Unix(int64(min(seconds, 1<<37)), 0), true
}

// stringOrList returns the strings in a claim that is a string or a list. It omits empty strings
// and returns an empty list for an absent claim.
func stringOrList(v any) (all []string, ok bool) {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, false
		}
		if text != "" {
			all = append(all, text)
		}
	}
	return all, true
}

const systemPrefix = "system:"

// IsSystemName reports whether a user or group name has the reserved prefix "system:".
func IsSystemName(name string) bool { return strings.HasPrefix(name, systemPrefix) }

func (t *Authenticator) user(c tree.Tree) (*authn.User, error) {
	user, err := t.mapUser(c)
	if err != nil {
		return nil, err
	}
	for _, rule := range t.options.JWT.Objects("claimValidationRules") {
		claim := rule.String("claim")
		if claim == "" {
			err = t.check(rule, "claims", c)
		} else if value, ok := c[claim].(string); !ok || value != rule.String("requiredValue") {
			err = fmt.Errorf("the required claim %s is missing or has another value", claim)
		}
		if err != nil {
			return nil, err
		}
	}
	variable := tree.Tree{"uid": "", "groups": []any{}, "extra": tree.Tree{}}
	maps.Copy(variable, user.Tree())
	for _, rule := range t.options.JWT.Objects("userValidationRules") {
		if err := t.check(rule, "user", variable); err != nil {
			return nil, err
		}
	}
	isReserved := func(name string) bool { return IsSystemName(name) && !slices.Contains(t.options.SystemNames, name) }
	if isReserved(user.Name) {
		return nil, fmt.Errorf("the token has the user name %q, a reserved name that is not allowed", user.Name)
	}
	// Unlike a reserved user name, a reserved group can be dropped, because that only reduces the
	// user's rights.
	user.Groups = slices.DeleteFunc(user.Groups, isReserved)
	return user, nil
}

func (t *Authenticator) mapUser(c tree.Tree) (*authn.User, error) {
	mappings := t.options.JWT.Object("claimMappings")
	var failure error
	value := func(mapping tree.Tree) (v any) {
		if text := mapping.String("expression"); text != "" {
			var err error
			v, err = t.eval("claims", text, c)
			failure = cmp.Or(failure, err)
		} else if claim := mapping.String("claim"); claim != "" {
			v = c[claim]
		}
		return v
	}
	list := func(name string, v any) []string {
		all, ok := stringOrList(v)
		if !ok {
			failure = cmp.Or(failure, fmt.Errorf("%s: not a string or a list of strings", name))
		}
		return all
	}
	username, groups, uid := mappings.Object("username"), mappings.Object("groups"), mappings.Object("uid")
	name, _ := value(username).(string)
	user, extra := &authn.User{Name: username.String("prefix") + name}, map[string][]string{}
	found := value(groups)
	_, single := found.(string)
	for _, group := range list("groups", found) {
		user.Groups = append(user.Groups, groups.String("prefix")+group)
	}
	var hasUID bool
	user.UID, hasUID = value(uid).(string)
	if id, ok := c["jti"].(string); ok && id != "" {
		extra[t.options.Naming.Translate(authn.CredentialID)] = []string{"JTI=" + id}
	}
	for _, m := range mappings.Objects("extra") {
		key := m.String("key")
		if values := list(key, value(tree.Tree{"expression": m["valueExpression"]})); len(values) > 0 {
			extra[key] = values
		}
	}
	if len(extra) > 0 {
		user.Extra = extra
	}
	verified, given := c["email_verified"]
	switch {
	case failure != nil:
		return nil, failure
	case name == "":
		return nil, errors.New("the token has no user name")
	case given && verified != true && username.String("claim") == "email":
		return nil, errors.New("the email address is not verified")
	case single && groups.Has("claim"):
		return nil, errors.New("groups: not a list of strings")
	case !hasUID && len(uid) > 0:
		return nil, errors.New("the uid is not a string")
	}
	return user, nil
}

func (t *Authenticator) check(rule tree.Tree, variable string, value tree.Tree) error {
	text := rule.String("expression")
	holds, err := t.eval(variable, text, value)
	if err == nil && holds != true {
		err = fmt.Errorf("validation expression '%s' failed: %s", text, rule.String("message"))
	}
	return err
}

func (t *Authenticator) eval(variable, text string, value tree.Tree) (result any, err error) {
	x := t.options.Expressions.Access(variable, text)
	if err = x.Err; err == nil {
		var v cel.Value
		if v, err = x.Program.Eval(context.Background(), cel.Variables{variable: value}, cel.NewBudget(cel.MatchConditionsBudget)); err == nil {
			result, err = cel.Native(v)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("expression '%s' resulted in error: %w", text, err)
	}
	return result, nil
}
