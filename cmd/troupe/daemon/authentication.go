package daemon

import (
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/certs"
)

// Authentication is who is let in.
type Authentication struct {
	ClientCAFile  string `json:"clientCAFile"`
	TokenAuthFile string `json:"tokenAuthFile"`
	Anonymous     bool   `json:"anonymous"`
}

func defaultAuthentication() Authentication { return Authentication{Anonymous: true} }

func (a *Authentication) flags(f *pflag.FlagSet) {
	f.StringVar(&a.ClientCAFile, "client-ca-file", a.ClientCAFile, "PEM file of the CAs whose client certificates are accepted, beside the daemon's own.")
	f.StringVar(&a.TokenAuthFile, "token-auth-file", a.TokenAuthFile, "CSV file of bearer tokens: token,user,uid,\"group1,group2\".")
	f.BoolVar(&a.Anonymous, "anonymous-auth", a.Anonymous, "Let requests without a credential in, as system:anonymous.")
}

func (a Authentication) validate(*faults) {}

// authenticate makes the chain of all ways to be somebody.
func (d *Daemon) authenticate(ca *certs.Pair, _ policy.Objects) (authn.Authenticator, error) {
	c := d.config.Authentication
	roots := x509.NewCertPool()
	roots.AddCert(ca.Cert)
	if c.ClientCAFile != "" {
		data, err := os.ReadFile(c.ClientCAFile)
		if err != nil {
			return nil, err
		}
		if !roots.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%s holds no certificate", c.ClientCAFile)
		}
	}
	methods := []authn.Authenticator{authn.Certificates(roots, time.Now)}
	if c.TokenAuthFile != "" {
		tokens, err := readTokens(c.TokenAuthFile)
		if err != nil {
			return nil, err
		}
		methods = append(methods, tokens)
	}
	chain := authn.Union(methods...)
	if c.Anonymous {
		chain = authn.Anonymous(chain)
	}
	return authn.Authenticated(chain), nil
}

func readTokens(path string) (*authn.Tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tokens, err := authn.ReadTokens(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tokens, nil
}
