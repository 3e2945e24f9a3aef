package authn

import "errors"

// Union tries methods in order and returns the first user. If there is none, it joins the errors of
// all methods. A FinalError ends the search.
func Union(methods ...Authenticator) Authenticator {
	if len(methods) == 1 {
		return methods[0]
	}
	return union(methods)
}

type union []Authenticator

func (methods union) Authenticate(r Request) (*User, error) {
	var faults []error
	for _, m := range methods {
		user, err := m.Authenticate(r)
		if user != nil && err == nil {
			return user, nil
		}
		if final := (FinalError{}); errors.As(err, &final) {
			return nil, err
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	return nil, errors.Join(faults...)
}
