package client

import (
	"encoding/base64"
	"errors"
	"os"

	"github.com/troupe-api/troupe/kinds/tree"
)

func secretOf(kind string, values map[string][]byte) tree.Tree {
	t := tree.Tree{"type": kind}
	for key, value := range values {
		t.EnsureObject("data")[key] = base64.StdEncoding.EncodeToString(value)
	}
	return t
}

type genericSecret struct {
	valueFlags
	Type string
}

func (o *genericSecret) build(*generated) (tree.Tree, error) {
	values, err := o.values()
	return secretOf(o.Type, values), err
}

type tlsSecret struct{ Cert, Key string }

func (o *tlsSecret) build(g *generated) (tree.Tree, error) {
	if o.Cert == "" || o.Key == "" {
		return nil, usageError("key and cert must be specified")
	}
	certificate, certErr := os.ReadFile(o.Cert)
	secret, keyErr := os.ReadFile(o.Key)
	if err := errors.Join(certErr, keyErr); err != nil {
		return nil, err
	}
	return secretOf(g.catalog.Naming.Translate("platform.io/tls"), map[string][]byte{"tls.crt": certificate, "tls.key": secret}), nil
}
