package server

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// LoadTarget reads the current context of the client configuration at path. Processes is left empty. The
// protocol is HTTP/1.1 even if the server offers more, since that is what Conn speaks.
func LoadTarget(path string) (*Target, error) {
	config, err := kubeconfig.Load(path)
	if err != nil {
		return nil, err
	}
	target := &Target{TLS: config.TLS}
	if err := target.setServer(config.Server.String()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	target.TLS.NextProtos = []string{"http/1.1"}
	if target.TLS.ServerName == "" {
		target.TLS.ServerName, _, _ = net.SplitHostPort(target.Address)
	}
	// Credentials are read once, not for every connection.
	pair, err := config.Credential.Certificate(context.Background())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if target.TLS.GetClientCertificate = nil; pair != nil {
		target.TLS.Certificates = append(target.TLS.Certificates, *pair)
	}
	if target.Token, err = config.Bearer(context.Background()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return target, nil
}

// setServer takes an https URL, whose path becomes a prefix of every request.
func (t *Target) setServer(server string) error {
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	if u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("server %q is not an https URL", server)
	}
	t.Address, t.Prefix = u.Host, strings.TrimSuffix(u.Path, "/")
	if u.Port() == "" {
		t.Address = net.JoinHostPort(u.Hostname(), "443")
	}
	return nil
}
