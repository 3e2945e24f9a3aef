package authn

import "errors"

// Union returns an Authenticator that tries methods in order until one returns a user. A FinalError
// ends the search. If no method returns a user, the error joins the errors of all methods.
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
