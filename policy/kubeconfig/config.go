package kubeconfig

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// A Config is what the current context of a client configuration file says. It may be used by many
// goroutines, and files that it names are read again when they are needed, so that rotated credentials take
// effect.
type Config struct {
	Server *url.URL // with the scheme http or https, and a host
	// TLS trusts the authority of the cluster. The client certificate, if the user has one, comes from
	// its GetClientCertificate.
	TLS *tls.Config
	// Proxy chooses the proxy, as http.Transport wants it.
	Proxy func(*http.Request) (*url.URL, error)
	// Authorization is the value of the Authorization header for the next request; "" is none.
	Authorization func() (string, error)
}

// Load reads the file at path. It fails if anything that the current context needs is missing or
// broken, files that it names included.
//
// Files of credentials that it names may change afterwards: they are read again when they are needed.
func Load(path string) (*Config, error) {
	c, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("client configuration %s: %w", path, err)
	}
	return c, nil
}

// The credential is read once at the end, so that a broken one is found now and not at the first request.
func load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f file
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, errors.New("the file is no client configuration in YAML") // an excerpt might be secret
	}
	where, who, err := f.current()
	if err != nil {
		return nil, err
	}
	base := baseDir(filepath.Dir(path))
	c := &Config{Authorization: func() (string, error) { return base.authorization(who) }}
	c.Server, err = url.Parse(where.Server)
	if err != nil || c.Server.Host == "" || c.Server.Scheme != "https" && c.Server.Scheme != "http" {
		return nil, errors.New("server is no http or https URL")
	}
	if c.TLS, err = base.tls(where, who); err != nil {
		return nil, err
	}
	if c.Proxy, err = where.proxy(); err != nil {
		return nil, err
	}
	_, err = c.Authorization()
	return c, err
}
