// Package authn finds out who is asking.
//
// The nouns: a Request holds the credentials of one HTTP request, an Authenticator is
// one method of reading them, a User is who was found, a Reviewer tells clients about it.
//
// An Authenticator gives one of three answers:
//
//	user, nil   the credential is good
//	nil, nil    no opinion: there is no credential of its sort, or it is not known here
//	nil, error  a credential of its sort is there and is bad
//
// The front answers 401 to the last two, and never shows the error's text to the client.
// The usual chain is
//
//	Authenticated(Anonymous(Union(certificates, tokens…)))
//
// in which Union asks its methods in the order given, Anonymous lets requests without
// any credential through, and Authenticated adds the group of all who have one.
//
// A credential may be for certain audiences only. A review asks in Request.Audiences whom it
// must be for, and User.Audiences answers; all other requests leave both to the method, for
// which the server itself is the audience then.
//
// Invariants: a bearer token that nobody knows is refused even where anonymous access is
// on; looking up a token takes the same time whatever the token is; a User is immutable
// once it is returned, because methods share it between requests.
package authn
