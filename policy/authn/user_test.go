package authn_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn"
)

func TestUserAsTree(t *testing.T) {
	for _, u := range []*authn.User{
		{Name: "jane", Groups: []string{}},
		{Name: "jane", UID: "1", Groups: []string{"a", "b"}, Extra: map[string][]string{"k": {"v", "w"}, "l": {"x"}}},
	} {
		if got := authn.ReadUser(u.Tree(), "username"); !reflect.DeepEqual(got, u) {
			t.Errorf("%+v became %+v", u, got)
		}
	}
	if got := authn.ReadUser(tree.Tree{"user": "jane", "username": "joe"}, "user"); got.Name != "jane" {
		t.Errorf("the name is %q", got.Name)
	}
}

func TestExtraKey(t *testing.T) {
	for encoded, want := range map[string]string{"scopes": "scopes", "a.example%2fb": "a.example/b", "bad%zz": "bad%zz", "": ""} {
		if got := authn.ExtraKey(encoded); got != want {
			t.Errorf("%q: got %q, want %q", encoded, got, want)
		}
	}
}

func TestIntersectAudiences(t *testing.T) {
	for _, c := range []struct{ asked, good, want []string }{
		{nil, []string{"a"}, nil},
		{[]string{"a"}, nil, nil},
		{[]string{"c", "a", "b", "a"}, []string{"a", "b"}, []string{"a", "b"}},
	} {
		if got := authn.IntersectAudiences(c.asked, c.good); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v and %v: got %v, want %v", c.asked, c.good, got, c.want)
		}
	}
}

func withoutExpiry(u *authn.User) *authn.User {
	if u == nil {
		return nil
	}
	bare := *u
	bare.ValidUntil = time.Time{}
	return &bare
}
