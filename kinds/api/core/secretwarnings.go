package core

import (
	"crypto/tls"
	"encoding/base64"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns about an unreadable certificate or one that does not match its key. The text of
// crypto/tls contains no secret.
func (t secretStrategy) Warnings(obj, _ tree.Tree) []string {
	if obj.String("type") != t.tls {
		return nil
	}
	data := obj.Object("data")
	certificate, _ := base64.StdEncoding.DecodeString(data.String("tls.crt"))
	key, _ := base64.StdEncoding.DecodeString(data.String("tls.key"))
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		return []string{err.Error()}
	}
	return nil
}
