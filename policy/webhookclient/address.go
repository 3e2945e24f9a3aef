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

// An Address is where a webhook is, and whom it must prove to be: its clientConfig. Webhooks with the same address may
// share connections.
type Address struct {
	url      string
	caBundle string // as PEM; "": what the system trusts
	// Of a webhook behind a Service; service is "" for any other.
	namespace, service string
	port               int64
}

const defaultPort = 443

// ParseAddress reads a clientConfig.
func ParseAddress(t tree.Tree) (Address, error) {
	bundle, err := base64.StdEncoding.DecodeString(t.String("caBundle"))
	if err != nil {
		return Address{}, errors.New("caBundle is not in base64")
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

// cleanURL is a URL with the shortest form of its path: installers join paths with slashes of their own, and the servers of webhooks
// answer a path with two of them by a redirect, which is not followed.
func cleanURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path.Join("/", u.Path)}).String()
}

// target is the server as credentials name it, host:port.
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

// tls is how connections are made safe.
func (a *Address) tls(certificate func(context.Context) (*tls.Certificate, error)) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, // the server must have the name of the URL, which is that of the Service
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
