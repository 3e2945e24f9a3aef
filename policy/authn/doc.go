// Package authn finds out who is asking.
//
// A Request holds the credentials of one HTTP request, an Authenticator is
// one method of reading them, a User is who was found, a Reviewer tells clients about it. A
// Cache keeps what a method has found out, by the Digest of the credential.
//
// An Authenticator gives one of three answers:
//
//	user, nil   the credential is good
//	nil, nil    no opinion: there is no credential of its sort, or it is not known here
//	nil, error  a credential of its sort is there and is bad
//
// A FinalError keeps the credential from the methods that follow; one that wraps
// ErrUnavailable says that nobody could be asked. User.ValidUntil tells when a good credential must be
// checked again even if nothing has changed.
//
// The front answers 401 to the last two, and never shows the error's text to the client,
// save for that of a RejectionError. The usual chain is
//
//	Authenticated(Anonymous(Bearer(Union(proxy, certificates), Union(tokens…))))
//
// in which Union asks its methods in the order given, Bearer refuses a bad token even beside a
// good certificate, Anonymous lets requests without any credential through, and Authenticated
// adds the group of all who have one. A good token counts even with a bad certificate. The tokens
// are those of a file, of service accounts (package serviceaccount), of bootstrapping, of an OpenID
// Connect provider (package oidc), and of a remote.
//
// A credential may be for certain audiences only. A review asks in Request.Audiences whom it
// must be for, and User.Audiences answers; all other requests leave both to the method, for
// which the server itself is the audience then.
//
// Invariants: a bearer token that nobody knows is refused even where anonymous access is
// on; looking up a token takes the same time whatever the token is; a User is immutable
// once it is returned, because methods share it between requests; what a method keeps is
// bounded, holds no credential, and never outlives the credential, nor the CAs or keys that
// it was verified with; a slow remote holds up those alone whom nobody else knows, and not
// for ever; credentials are in no error.
package authn
