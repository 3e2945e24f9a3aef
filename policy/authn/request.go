package authn

import (
	"crypto/x509"
	"errors"
	"iter"
)

type Request struct {
	// Token is the text after "Bearer " in the Authorization header, or the token in a TokenReview.
	// HasToken is true if there is a token, even an empty one.
	Token    string
	HasToken bool
	// Certs holds the unverified certificates from the TLS handshake, leaf first, as in
	// tls.ConnectionState.PeerCertificates.
	Certs []*x509.Certificate
	// ConnCache caches authentication results for the connection. It may be nil.
	ConnCache *ConnCache
	// Headers provides access to the request headers. It may be nil.
	Headers Headers
	// Path is the request path, as in authz.Attributes.
	Path string
	// Audiences lists the audiences that a TokenReview requests. The credential must be valid for
	// at least one. If the list is empty, the credential must be valid for this server.
	Audiences []string
}

// A ConnCache caches intermediate results for a connection. It is not safe for concurrent use. The
// zero value is an empty cache.
type ConnCache struct {
	certificate   connCertificate
	authenticated authenticatedUser
}

// Headers provides access to the request headers in their original order. Names are
// case-insensitive. Returned strings stay valid after the request.
type Headers interface {
	// Values returns all values of the headers with this name.
	Values(name string) []string
	// All iterates over all headers, with canonical names.
	All() iter.Seq2[string, string]
	// Remove removes all headers with this name, so that later handlers do not see them.
	Remove(name string)
}

// An Authenticator is one authentication method. It must be safe for concurrent use. The package
// comment describes the three results.
type Authenticator interface {
	Authenticate(r Request) (*User, error)
}

// ErrUnavailable is wrapped by the errors of authenticators that cannot reach their remote service.
var ErrUnavailable = errors.New("the authenticator is unavailable")

// A FinalError rejects a credential. After it, no other authenticator is tried.
type FinalError struct{ Err error }

func (f FinalError) Error() string { return f.Err.Error() }

func (f FinalError) Unwrap() error { return f.Err }

// ErrUnknownToken rejects a bearer token that no method recognizes.
var ErrUnknownToken = errors.New("unknown bearer token")
