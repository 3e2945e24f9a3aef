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
		others, token stubAuthenticator
		text          string
		user          *authn.User
		err           error
	}{
		{"a certificate alone", stubAuthenticator{jane, nil}, stubAuthenticator{nil, bad}, "", jane, nil},
		{"with an unknown token", stubAuthenticator{jane, nil}, stubAuthenticator{}, "x", nil, authn.ErrUnknownToken},
		{"with a bad token", stubAuthenticator{jane, nil}, stubAuthenticator{nil, bad}, "x", nil, bad},
		{"with a good one", stubAuthenticator{jane, nil}, stubAuthenticator{joe, nil}, "x", jane, nil},
		{"a bad certificate with a good token", stubAuthenticator{nil, bad}, stubAuthenticator{joe, nil}, "x", joe, nil},
		{"a token alone", stubAuthenticator{}, stubAuthenticator{joe, nil}, "x", joe, nil},
		{"nothing", stubAuthenticator{}, stubAuthenticator{joe, nil}, "", nil, nil},
	} {
		user, err := authn.Bearer(test.others, test.token).Authenticate(authn.Request{Token: test.text, HasToken: test.text != ""})
		if user != test.user || !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
			t.Errorf("%s: got %v, %v", test.name, user, err)
		}
	}
}
