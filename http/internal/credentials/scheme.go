package credentials

import (
	"bytes"
	"strings"
)

// The schemes of the header Authorization that are told apart. Only bearer tokens are accepted.
const (
	SchemeBearer = "bearer"
	SchemeBasic  = "basic"
)

// Scheme is how a client tries to prove who it is: bearer, basic or "".
func Scheme(authorization []byte) string {
	name, _, _ := bytes.Cut(bytes.TrimSpace(authorization), []byte(" "))
	for _, known := range []string{SchemeBearer, SchemeBasic} {
		if strings.EqualFold(string(name), known) {
			return known
		}
	}
	return ""
}

// BearerToken returns the token of an Authorization header, or nothing if there is none.
func BearerToken(authorization []byte) []byte {
	if Scheme(authorization) != SchemeBearer {
		return nil
	}
	return bytes.TrimSpace(bytes.TrimSpace(authorization)[len(SchemeBearer):]) // "Bearer" alone is no credential
}
