package authn_test

import (
	"context"
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

type secretReader struct{ policy.Object }

func (s *secretReader) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	if (meta.Key{GroupResource: r, Namespace: namespace, Name: name}) != s.Key {
		return nil
	}
	return &s.Object
}

func (s *secretReader) Inform(context.Context, meta.GroupResource, func(policy.Change)) error {
	return nil
}

func newSecret(naming *meta.Naming, name string) *secretReader {
	data := tree.Tree{}
	for key, value := range map[string]string{
		"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
		"usage-bootstrap-signing": "false", "description": "a token",
	} {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return &secretReader{policy.Object{
		Key:  meta.Key{GroupResource: meta.GroupResource{Resource: "secrets"}, Namespace: naming.SystemNamespace(), Name: name},
		Tree: tree.Tree{"type": naming.Translate("bootstrap.platform.io/token"), "data": data},
	}}
}

func TestBootstrapTokens(t *testing.T) {
	const name, good = "bootstrap-token-abcdef", "abcdef.0123456789abcdef"
	set := func(key, value string) func(*secretReader) {
		return func(s *secretReader) {
			s.Tree["data"].(tree.Tree)[key] = base64.StdEncoding.EncodeToString([]byte(value))
		}
	}
	none := func(*secretReader) {}
	for label, c := range map[string]struct {
		token  string
		change func(*secretReader)
		groups string // "" for a rejected token
	}{
		"good":                    {good, none, "system:bootstrappers"},
		"another secret":          {"abcdef.0123456789abcdeg", none, ""},
		"another id":              {"abcdeg.0123456789abcdef", none, ""},
		"large letters":           {strings.ToUpper(good), none, ""},
		"short":                   {good[:22], none, ""},
		"long":                    {good + "0", none, ""},
		"a line":                  {good + "\n", none, ""},
		"empty":                   {"", none, ""},
		"not for requests":        {good, set("usage-bootstrap-authentication", "false"), ""},
		"only just not true":      {good, set("usage-bootstrap-authentication", "True"), ""},
		"secret names another id": {good, set("token-id", "abcdee"), ""},
		"secret has no token":     {good, set("token-secret", ""), ""},
		"another type":            {good, func(s *secretReader) { s.Tree["type"] = "Opaque" }, ""},
		"is being deleted":        {good, func(s *secretReader) { s.Meta.Terminating = true }, ""},
		"another namespace":       {good, func(s *secretReader) { s.Key.Namespace = "default" }, ""},
		"data is no base64":       {good, func(s *secretReader) { s.Tree["data"].(tree.Tree)["token-secret"] = "%" }, ""},
		"ends later":              {good, set("expiration", now.Add(time.Second).Format(time.RFC3339)), "system:bootstrappers"},
		"ends elsewhere, later":   {good, set("expiration", "2030-01-02T05:04:06+02:00"), "system:bootstrappers"},
		"ends now":                {good, set("expiration", now.Format(time.RFC3339)), ""},
		"has ended":               {good, set("expiration", "2020-01-01T00:00:00Z"), ""},
		"ends some day":           {good, set("expiration", "tomorrow"), ""},
		"groups":                  {good, set("auth-extra-groups", "system:bootstrappers:b,system:bootstrappers:a-1:x"), "system:bootstrappers,system:bootstrappers:a-1:x,system:bootstrappers:b"},
		"masters":                 {good, set("auth-extra-groups", "system:masters"), ""},
		"masters, hidden":         {good, set("auth-extra-groups", "system:bootstrappers:a,system:masters"), ""},
		"no name after the colon": {good, set("auth-extra-groups", "system:bootstrappers:"), ""},
		"space":                   {good, set("auth-extra-groups", "system:bootstrappers:a, system:bootstrappers:b"), ""},
		"an empty group":          {good, set("auth-extra-groups", "system:bootstrappers:a,"), ""},
	} {
		for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
			s := newSecret(naming, name)
			c.change(s)
			user, err := authn.BootstrapTokens(naming, s, func() time.Time { return now }).Authenticate(authn.Request{Token: c.token, HasToken: true})
			switch {
			case c.groups == "" && user != nil:
				t.Errorf("%s: is %+v", label, user)
			case c.groups != "" && (err != nil || !reflect.DeepEqual(withoutExpiry(user), &authn.User{Name: "system:bootstrap:abcdef", Groups: strings.Split(c.groups, ",")})):
				t.Errorf("%s: %+v, %v", label, user, err)
			}
		}
	}
}

func TestReviewedAudiences(t *testing.T) {
	to := func(audiences ...string) authn.Reviewer {
		return authn.Reviewer{Audiences: []string{"here"}, Authenticator: constantUser{&authn.User{Name: "x", Audiences: audiences}}}
	}
	for _, c := range []struct {
		reviewer authn.Reviewer
		asked    []any
		want     string
	}{
		{to("there"), []any{"there", "here"}, `{"audiences":["there"],"authenticated":true,"user":{"username":"x"}}`},
		{to("here", "there"), []any{"there", "here"}, `{"audiences":["there","here"],"authenticated":true,"user":{"username":"x"}}`},
		// An authenticator that ignores the requested audiences must not authenticate the token.
		{to("there"), []any{"here"}, `{"error":"invalid bearer token"}`},
		{to("here"), nil, `{"authenticated":true,"user":{"username":"x"}}`},
	} {
		spec := tree.Tree{"token": "t"}
		if c.asked != nil {
			spec["audiences"] = c.asked
		}
		review, err := c.reviewer.Token(tree.Tree{"spec": spec})
		if got := toJSON(t, review["status"]); err != nil || got != c.want {
			t.Errorf("%v: %s, %v; want %s", c.asked, got, err, c.want)
		}
	}
}

type constantUser struct{ user *authn.User }

func (k constantUser) Authenticate(authn.Request) (*authn.User, error) { return k.user, nil }
