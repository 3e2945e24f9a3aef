package authn

import (
	"crypto/x509"
	"errors"
	"iter"
)

type Request struct {
	// Token is the text after "Bearer " in the Authorization header, if HasToken is set. In a
	// review it may be empty.
	Token    string
	HasToken bool
	// Certs are the unverified certificates of the TLS handshake, leaf first, as in
	// tls.ConnectionState.PeerCertificates.
	Certs []*x509.Certificate
	// ConnCache is the cache of the connection, or nil.
	ConnCache *ConnCache
	// Headers are the headers of the request, or nil.
	Headers Headers
	// Path is the requested path, as in authorization.
	Path string
	// Audiences are requested by a review: the credential must be for one of them. Otherwise it
	// must be for the server itself.
	Audiences []string
}

// A ConnCache keeps intermediate results of a connection's last request, without effect on the
// results. The zero value is empty. It is used by one request at a time.
type ConnCache struct {
	certificate   connCertificate
	authenticated authenticatedUser
}

// Headers are the headers of a request, in order. Names are case-insensitive. Strings stay valid
// after the request.
type Headers interface {
	// Values returns all values of one name.
	Values(name string) []string
	// All returns all headers with canonical names.
	All() iter.Seq2[string, string]
	// Remove removes all headers of one name, so that they are not visible after authentication.
	Remove(name string)
}

// An Authenticator is one method of authentication, safe for concurrent use. The package comment
// explains the three results.
type Authenticator interface {
	Authenticate(r Request) (*User, error)
}

// ErrUnavailable is wrapped by errors of methods that could not reach their remote.
var ErrUnavailable = errors.New("the authenticator is unavailable")

// A FinalError rejects a credential, which no other method may then try.
type FinalError struct{ Err error }

func (f FinalError) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f FinalError) Unwrap() error { return f.Err }

// ErrUnknownToken rejects a bearer token that no method knows.
var ErrUnknownToken = errors.New("unknown bearer token")
