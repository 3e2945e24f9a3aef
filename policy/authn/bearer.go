package authn

// Bearer returns an Authenticator that passes requests with a bearer token to tokens, and all other
// requests to others. An unknown token is an error even if the request has another valid
// credential. If both credentials are valid, the credential accepted by others determines the user.
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
