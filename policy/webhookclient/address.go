package webhookclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An Address is a parsed clientConfig: the location of a webhook and its CA.
type Address struct {
	url      string
	caBundle string // PEM; "" for the system roots
	// namespace, service and port are set only for a webhook behind a Service.
	namespace, service string
	port               int64
}

const defaultPort = 443

// ParseAddress parses the clientConfig of a webhook.
func ParseAddress(t tree.Tree) (Address, error) {
	bundle, err := base64.StdEncoding.DecodeString(t.String("caBundle"))
	if err != nil {
		return Address{}, errors.New("caBundle is not base64")
	}
	a := Address{url: t.String("url"), caBundle: strings.TrimSpace(string(bundle))}
	service := t.Object("service")
	if service == nil {
		u, err := url.Parse(a.url)
		if err != nil || a.url == "" {
			return Address{}, errors.New("webhook configuration must have either service or URL")
		}
		a.url = cleanURL(u)
		return a, nil
	}
	a.namespace, a.service, a.port = service.String("namespace"), service.String("name"), defaultPort
	if port, ok := service.Int("port"); ok {
		a.port = port
	}
	a.url = cleanURL(&url.URL{Scheme: "https", Host: a.target(), Path: service.String("path")})
	return a, nil
}

// cleanURL removes double slashes from a path, because some installers write them. Servers would
// respond with a redirect, which clients never follow.
func cleanURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path.Join("/", u.Path)}).String()
}

// target returns the host:port of the webhook, which identifies its credential.
func (a *Address) target() string {
	if a.service != "" {
		return net.JoinHostPort(a.service+"."+a.namespace+".svc", strconv.FormatInt(a.port, 10))
	}
	u, err := url.Parse(a.url)
	if err != nil {
		return ""
	}
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), strconv.Itoa(defaultPort))
}

// tls returns the TLS configuration. It calls certificate for the client certificate in each
// handshake.
func (a *Address) tls(certificate func(context.Context) (*tls.Certificate, error)) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, // the server name is the host of the URL
		GetClientCertificate: func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := certificate(info.Context())
			if err != nil {
				return nil, fmt.Errorf("the client certificate: %w", err)
			}
			if pair == nil {
				pair = new(tls.Certificate)
			}
			return pair, nil
		},
	}
	if a.caBundle != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(a.caBundle)) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	return c, nil
}
