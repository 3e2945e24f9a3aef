package client

import (
	"encoding/base64"
	"errors"
	"os"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
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
	cert, key := f.String("cert", "", "File of the certificate, in PEM."), f.String("key", "", "File of its key.")
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

func registrySecret(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	server, email := f.String("docker-server", "https://index.docker.io/v1/", "The registry."), f.String("docker-email", "", "Mail address.")
	username, password := f.String("docker-username", "", "Name."), f.String("docker-password", "", "Password.")
	return func(g *generated) (tree.Tree, error) {
		if *username == "" || *password == "" {
			return nil, usageError("required flag(s) \"docker-username\", \"docker-password\" not set")
		}
		entry := tree.Tree{"username": *username, "password": *password, "auth": base64.StdEncoding.EncodeToString([]byte(*username + ":" + *password))}
		if *email != "" {
			entry["email"] = *email
		}
		text := document.JSON(tree.Tree{"auths": tree.Tree{*server: entry}})
		return secretOf(g.catalog.Naming.Translate("platform.io/dockerconfigjson"), map[string][]byte{".dockerconfigjson": text}), nil
	}
}
