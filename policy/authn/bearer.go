package authn

// Bearer asks others for the user, and tokens if the others find none. A bearer token that tokens do not
// know is refused even beside another credential that is good: a client that sends a token expects
// to be the user of that token.
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
	return user, nil // a good token makes up for a bad certificate
}
