package authn

import (
	"crypto/x509"
	"errors"
	"iter"
)

// A Request holds the credentials of one HTTP request.
type Request struct {
	// Token is the text after "Bearer " in the Authorization header. HasToken is set
	// where there is one; in a review it may be empty.
	Token    string
	HasToken bool
	// Certs are the certificates that the client presented in the TLS handshake, leaf
	// first, as in tls.ConnectionState.PeerCertificates. Nothing has verified them.
	Certs []*x509.Certificate
	// ConnCache is that of the connection; nil stands for none.
	ConnCache *ConnCache
	// Headers are those of the request; nil stands for none.
	Headers Headers
	// Path is the path that is asked for, as authorization sees it.
	Path string
	// Audiences are those that a review asks for: the credential must be for one of them.
	// Without any, it must be for the server itself.
	Audiences []string
}

// A ConnCache is what a connection keeps of its last request, so that what cannot have changed is
// not computed again for the next one. It only saves time: without it, the results are the same.
// Its zero value is empty. One request at a time uses it.
type ConnCache struct {
	certificate   connCertificate
	authenticated authenticatedUser
}

// Headers are the headers of a request. Names are not case-sensitive. They are given in the
// order in which they came; their texts stay valid after the request.
type Headers interface {
	// Values are all values of one name.
	Values(name string) []string
	// All are all headers, names in their canonical form.
	All() iter.Seq2[string, string]
	// Remove takes all headers of one name out of the request, so that they are
	// not seen after authentication.
	Remove(name string)
}

// An Authenticator is one method of authentication. The package comment
// explains its three answers. It is called by many goroutines at a time.
type Authenticator interface {
	Authenticate(r Request) (*User, error)
}

// ErrUnavailable is wrapped by the error of a method that could not reach the remote it asks.
var ErrUnavailable = errors.New("nobody could be asked")

// A FinalError refuses a credential for good: it is of the sort of the method that has refused
// it, and no other method gets to see it.
type FinalError struct{ Err error }

func (f FinalError) Error() string { return f.Err.Error() }

// Unwrap is for package errors.
func (f FinalError) Unwrap() error { return f.Err }

// ErrUnknownToken refuses a bearer token that no method knows.
var ErrUnknownToken = errors.New("unknown bearer token")
