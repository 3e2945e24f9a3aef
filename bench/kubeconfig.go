package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// kubeconfig is the part of a client configuration file that says where a server is and who asks.
type kubeconfig struct {
	CurrentContext string `json:"current-context"`
	Contexts       []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
	Clusters []struct {
		Name    string  `json:"name"`
		Cluster cluster `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User user   `json:"user"`
	} `json:"users"`
}

type cluster struct {
	Server                   string `json:"server"`
	CertificateAuthority     string `json:"certificate-authority"`
	CertificateAuthorityData string `json:"certificate-authority-data"`
	TLSServerName            string `json:"tls-server-name"`
	InsecureSkipTLSVerify    bool   `json:"insecure-skip-tls-verify"`
}

type user struct {
	ClientCertificate     string `json:"client-certificate"`
	ClientCertificateData string `json:"client-certificate-data"`
	ClientKey             string `json:"client-key"`
	ClientKeyData         string `json:"client-key-data"`
	Token                 string `json:"token"`
	TokenFile             string `json:"tokenFile"`
}

// LoadTarget reads the current context of the kubeconfig at path. Certificates may be embedded
// or named as files, which are found relative to the kubeconfig. Processes is left empty.
func LoadTarget(path string) (*Target, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var config kubeconfig
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	target, err := config.target(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return target, nil
}

func (k *kubeconfig) target(dir string) (*Target, error) {
	cluster, user, err := k.current()
	if err != nil {
		return nil, err
	}
	target := &Target{}
	if err := target.setServer(cluster.Server); err != nil {
		return nil, err
	}
	if target.TLS, err = cluster.tls(dir); err != nil {
		return nil, err
	}
	if target.TLS.ServerName == "" {
		host, _, _ := net.SplitHostPort(target.Address)
		target.TLS.ServerName = host
	}
	if target.TLS.Certificates, err = user.certificates(dir); err != nil {
		return nil, err
	}
	if target.Token, err = user.token(dir); err != nil {
		return nil, err
	}
	return target, nil
}

// current resolves the current context to its cluster and user.
func (k *kubeconfig) current() (cluster, user, error) {
	var clusterName, userName string
	found := false
	for _, c := range k.Contexts {
		if c.Name == k.CurrentContext {
			clusterName, userName, found = c.Context.Cluster, c.Context.User, true
		}
	}
	if !found {
		return cluster{}, user{}, fmt.Errorf("no context %q", k.CurrentContext)
	}
	var subject user
	for _, u := range k.Users {
		if u.Name == userName {
			subject = u.User
		}
	}
	for _, c := range k.Clusters {
		if c.Name == clusterName {
			return c.Cluster, subject, nil
		}
	}
	return cluster{}, user{}, fmt.Errorf("no cluster %q", clusterName)
}

func (c cluster) tls(dir string) (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"http/1.1"},
		ServerName:         c.TLSServerName,
		InsecureSkipVerify: c.InsecureSkipTLSVerify,
	}
	authority, err := fileOrData(dir, c.CertificateAuthority, c.CertificateAuthorityData)
	if err != nil {
		return nil, fmt.Errorf("certificate-authority: %w", err)
	}
	if authority != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authority) {
			return nil, errors.New("certificate-authority: no certificate in it")
		}
	}
	return config, nil
}

func (u user) certificates(dir string) ([]tls.Certificate, error) {
	certificate, err := fileOrData(dir, u.ClientCertificate, u.ClientCertificateData)
	if err != nil {
		return nil, fmt.Errorf("client-certificate: %w", err)
	}
	key, err := fileOrData(dir, u.ClientKey, u.ClientKeyData)
	if err != nil {
		return nil, fmt.Errorf("client-key: %w", err)
	}
	if certificate == nil && key == nil {
		return nil, nil
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("client-certificate: %w", err)
	}
	return []tls.Certificate{pair}, nil
}

func (u user) token(dir string) (string, error) {
	if u.Token != "" || u.TokenFile == "" {
		return u.Token, nil
	}
	text, err := fileOrData(dir, u.TokenFile, "")
	return strings.TrimSpace(string(text)), err
}

// fileOrData returns what is embedded as base64, else what the file holds, else nil.
func fileOrData(dir, file, embedded string) ([]byte, error) {
	if embedded != "" {
		return base64.StdEncoding.DecodeString(embedded)
	}
	if file == "" {
		return nil, nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return os.ReadFile(file)
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
