package authn_test

import (
	"errors"
	"testing"

	"github.com/troupe-api/troupe/policy/authn"
)

func TestBearer(t *testing.T) {
	jane, joe, bad := &authn.User{Name: "jane"}, &authn.User{Name: "joe"}, errors.New("bad credential")
	for _, test := range []struct {
		name          string
		others, token fixed
		text          string
		user          *authn.User
		err           error
	}{
		{"a certificate alone", fixed{jane, nil}, fixed{nil, bad}, "", jane, nil},
		{"with an unknown token", fixed{jane, nil}, fixed{}, "x", nil, authn.ErrUnknownToken},
		{"with a bad token", fixed{jane, nil}, fixed{nil, bad}, "x", nil, bad},
		{"with a good one", fixed{jane, nil}, fixed{joe, nil}, "x", jane, nil},
		{"a bad certificate with a good token", fixed{nil, bad}, fixed{joe, nil}, "x", joe, nil},
		{"a token alone", fixed{}, fixed{joe, nil}, "x", joe, nil},
		{"nothing", fixed{}, fixed{joe, nil}, "", nil, nil},
	} {
		user, err := authn.Bearer(test.others, test.token).Authenticate(authn.Request{Token: test.text, HasToken: test.text != ""})
		if user != test.user || !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
			t.Errorf("%s: got %v, %v", test.name, user, err)
		}
	}
}
