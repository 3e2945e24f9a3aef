package credentials

import (
	"bytes"
	"strings"
)

// The known schemes of the Authorization header. Only bearer tokens are accepted.
const (
	SchemeBearer = "bearer"
	SchemeBasic  = "basic"
)

// Scheme returns the scheme in lower case, or "" if it is unknown.
func Scheme(authorization []byte) string {
	name, _, _ := bytes.Cut(bytes.TrimSpace(authorization), []byte(" "))
	for _, known := range []string{SchemeBearer, SchemeBasic} {
		if strings.EqualFold(string(name), known) {
			return known
		}
	}
	return ""
}

// BearerToken returns the bearer token of an Authorization header, or nil.
func BearerToken(authorization []byte) []byte {
	if Scheme(authorization) != SchemeBearer {
		return nil
	}
	return bytes.TrimSpace(bytes.TrimSpace(authorization)[len(SchemeBearer):]) // may be ""
}
