package kubeconfig

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
)

type baseDir string

func (d baseDir) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(string(d), file)
}

// pem returns a field's PEM content from its base64 data or file, or nil if neither is set.
func (d baseDir) pem(data, file string) ([]byte, error) {
	switch {
	case data != "":
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, errors.New("the data is not base64")
		}
		return text, nil
	case file == "":
		return nil, nil
	}
	return readFile(d.path(file))
}

func (c cluster) authority() ([]byte, error) {
	text, err := c.dir.pem(c.CertificateAuthorityData, c.CertificateAuthority)
	if err != nil {
		return nil, fmt.Errorf("certificate-authority: %w", err)
	}
	return text, nil
}

func (c cluster) tls() (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.Insecure}
	authority, err := c.authority()
	if err != nil || authority == nil {
		return t, err
	}
	t.RootCAs = x509.NewCertPool()
	if !t.RootCAs.AppendCertsFromPEM(authority) {
		return nil, errors.New("certificate-authority has no certificate")
	}
	return t, nil
}

// pair returns the user's client certificate, or nil if there is none. It rejects a certificate
// without a key, because the server would treat the client as anonymous.
func (u user) pair() (*tls.Certificate, error) {
	cert, err := u.dir.pem(u.CertificateData, u.Certificate)
	if err != nil {
		return nil, fmt.Errorf("client-certificate: %w", err)
	}
	key, err := u.dir.pem(u.KeyData, u.Key)
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

// authorization returns the user's Authorization header, or "" if there is no token or password. It
// rereads a token file on each call, because tokens are rotated.
func (u user) authorization() (string, error) {
	token := u.Token
	if u.TokenFile != "" {
		text, err := u.dir.pem("", u.TokenFile)
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

func (c cluster) proxy() (func(*http.Request) (*url.URL, error), error) {
	if c.ProxyURL == "" {
		return http.ProxyFromEnvironment, nil
	}
	proxy, err := url.Parse(c.ProxyURL)
	if err != nil || proxy.Host == "" {
		return nil, errors.New("proxy-url is not a URL")
	}
	return http.ProxyURL(proxy), nil
}
