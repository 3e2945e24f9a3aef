package kubeconfig

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// baseDir is the directory of a client configuration file. Paths in the file are relative to it.
type baseDir string

// pem is the content of a field that is given inline, in base64, or as the name of a file; nil if it is
// given in neither way.
func (d baseDir) pem(data, file string) ([]byte, error) {
	switch {
	case data != "":
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, errors.New("the data is not in base64")
		}
		return text, nil
	case file == "":
		return nil, nil
	case !filepath.IsAbs(file):
		file = filepath.Join(string(d), file)
	}
	return os.ReadFile(file)
}

// tls trusts the authority that the file names, or else those of the machine.
func (d baseDir) tls(c cluster, u user) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.Insecure}
	authority, err := d.pem(c.CertificateAuthorityData, c.CertificateAuthority)
	if err != nil {
		return nil, fmt.Errorf("certificate-authority: %w", err)
	}
	if authority != nil {
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(authority) {
			return nil, errors.New("certificate-authority holds no certificate")
		}
	}
	pair, err := d.pair(u)
	if err != nil || pair == nil {
		return t, err
	}
	// The files are read again for every handshake, so that a new certificate is used by itself.
	t.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return d.pair(u) }
	return t, nil
}

// pair is the client certificate of a user; nil if it has none. A certificate without its key is an error,
// since the server at the other end would see an anonymous client.
func (d baseDir) pair(u user) (*tls.Certificate, error) {
	cert, err := d.pem(u.CertificateData, u.Certificate)
	if err != nil {
		return nil, fmt.Errorf("client-certificate: %w", err)
	}
	key, err := d.pem(u.KeyData, u.Key)
	if err != nil {
		return nil, fmt.Errorf("client-key: %w", err)
	}
	if cert == nil && key == nil {
		return nil, nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("client-certificate: %w", err)
	}
	return &pair, nil
}

// authorization is the Authorization header of a user; "" if the user has neither token nor password.
// A file with a token is read again each time, because tokens in files are replaced before they expire.
func (d baseDir) authorization(u user) (string, error) {
	token := u.Token
	if u.TokenFile != "" {
		text, err := d.pem("", u.TokenFile)
		if err != nil {
			return "", fmt.Errorf("tokenFile: %w", err)
		}
		token = strings.TrimSpace(string(text))
	}
	switch {
	case token != "":
		return "Bearer " + token, nil
	case u.Username != "":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username+":"+u.Password)), nil
	}
	return "", nil
}

// proxy is the proxy that a cluster names, or else the one of the environment. A proxy of the environment
// is what other tools that read such files use, too.
func (c cluster) proxy() (func(*http.Request) (*url.URL, error), error) {
	if c.ProxyURL == "" {
		return http.ProxyFromEnvironment, nil
	}
	proxy, err := url.Parse(c.ProxyURL)
	if err != nil || proxy.Host == "" {
		return nil, errors.New("proxy-url is no URL")
	}
	return http.ProxyURL(proxy), nil
}
