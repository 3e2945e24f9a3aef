package authn

// Bearer uses tokens for requests with a bearer token and others for the rest. A token that tokens
// does not know is an error even with another valid credential. If both are valid, the user is
// that of others.
func Bearer(others, tokens Authenticator) Authenticator { return bearer{others, tokens} }

type bearer struct{ others, tokens Authenticator }

func (b bearer) Authenticate(r Request) (*User, error) {
	if r.Token == "" {
		return b.others.Authenticate(r)
	}
	user, err := b.tokens.Authenticate(r)
	switch {
	case err != nil:
		return nil, err
	case user == nil:
		return nil, ErrUnknownToken
	}
	if other, err := b.others.Authenticate(r); err == nil && other != nil {
		return withEarlierExpiry(other, user), nil
	}
	return user, nil // a valid token outweighs an invalid certificate
}
