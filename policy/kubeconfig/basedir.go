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

// path is where a file is that the configuration names.
func (d baseDir) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(string(d), file)
}

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
	}
	return os.ReadFile(d.path(file))
}

// authority is the text of the certificates that a cluster is trusted by; nil for those of the machine.
func (c cluster) authority() ([]byte, error) {
	text, err := c.dir.pem(c.CertificateAuthorityData, c.CertificateAuthority)
	if err != nil {
		return nil, fmt.Errorf("certificate-authority: %w", err)
	}
	return text, nil
}

// tls trusts the authority that the file names, or else those of the machine.
func (c cluster) tls() (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.Insecure}
	authority, err := c.authority()
	if err != nil || authority == nil {
		return t, err
	}
	t.RootCAs = x509.NewCertPool()
	if !t.RootCAs.AppendCertsFromPEM(authority) {
		return nil, errors.New("certificate-authority holds no certificate")
	}
	return t, nil
}

// pair is the client certificate that the file gives a user; nil if it gives none. A certificate without its key is an
// error, since the server at the other end would see an anonymous client.
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

// authorization is the Authorization header that the file gives a user; "" if the user has neither token nor password.
// A file with a token is read again each time, because tokens in files are replaced before they expire.
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
