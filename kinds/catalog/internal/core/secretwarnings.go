package core

import (
	"crypto/tls"
	"encoding/base64"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// secretWarnings warns of a certificate that its key does not fit, or that cannot be read. The text is that
// of crypto/tls, which names the problem but none of the contents.
func secretWarnings(n *meta.Naming) family.WarnFunc {
	kind := n.Translate("platform.io/tls")
	return func(obj, _ tree.Tree) []string {
		if obj.String("type") != kind {
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
}
