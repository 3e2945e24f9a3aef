package client

import (
	"encoding/base64"
	"errors"
	"os"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

func secretOf(kind string, values map[string][]byte) tree.Tree {
	t := tree.Tree{"type": kind}
	for key, value := range values {
		t.EnsureObject("data")[key] = base64.StdEncoding.EncodeToString(value)
	}
	return t
}

func genericSecret(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	v := &valueFlags{}
	v.add(f)
	kind := f.String("type", "Opaque", "Type of the Secret.")
	return func(*generated) (tree.Tree, error) {
		values, err := v.values()
		return secretOf(*kind, values), err
	}
}

func tlsSecret(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	cert, key := f.String("cert", "", "Certificate file in PEM."), f.String("key", "", "Key file in PEM.")
	return func(g *generated) (tree.Tree, error) {
		if *cert == "" || *key == "" {
			return nil, usageError("key and cert must be specified")
		}
		certificate, certErr := os.ReadFile(*cert)
		secret, keyErr := os.ReadFile(*key)
		if err := errors.Join(certErr, keyErr); err != nil {
			return nil, err
		}
		return secretOf(g.catalog.Naming.Translate("platform.io/tls"), map[string][]byte{"tls.crt": certificate, "tls.key": secret}), nil
	}
}
