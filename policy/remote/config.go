package remote

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// config is a client configuration as far as a Service needs it.
type config struct {
	Clusters []struct {
		Name    string  `json:"name"`
		Cluster cluster `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User user   `json:"user"`
	} `json:"users"`
	Contexts []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
	CurrentContext string `json:"current-context"`
}

type cluster struct {
	Server        string `json:"server"`
	ServerName    string `json:"tls-server-name"`
	Insecure      bool   `json:"insecure-skip-tls-verify"`
	Authority     string `json:"certificate-authority"`
	AuthorityData string `json:"certificate-authority-data"`
}

type user struct {
	Certificate     string `json:"client-certificate"`
	CertificateData string `json:"client-certificate-data"`
	Key             string `json:"client-key"`
	KeyData         string `json:"client-key-data"`
	Token           string `json:"token"`
	TokenFile       string `json:"tokenFile"`
	Username        string `json:"username"`
	Password        string `json:"password"`
}

// current is the cluster and the user of the current context. A file with one cluster needs no
// context.
func (c *config) current() (cluster, user, error) {
	var clusterName, userName string
	for _, named := range c.Contexts {
		if named.Name == c.CurrentContext {
			clusterName, userName = named.Context.Cluster, named.Context.User
		}
	}
	if clusterName == "" {
		if len(c.Clusters) != 1 || len(c.Users) > 1 {
			return cluster{}, user{}, fmt.Errorf("current-context %q names no context of the file", c.CurrentContext)
		}
		clusterName = c.Clusters[0].Name
		for _, named := range c.Users {
			userName = named.Name
		}
	}
	var who user
	for _, named := range c.Users {
		if named.Name == userName {
			who = named.User
		}
	}
	for _, named := range c.Clusters {
		if named.Name == clusterName {
			return named.Cluster, who, nil
		}
	}
	return cluster{}, user{}, fmt.Errorf("the file has no cluster %q", clusterName)
}

// dir is the directory that the relative paths of a file are relative to.
type dir string

// pem is the content of a field that is given inline in base64, or as the name of a file.
func (d dir) pem(data, file string) ([]byte, error) {
	switch {
	case data != "":
		return base64.StdEncoding.DecodeString(data)
	case file == "":
		return nil, nil
	case !filepath.IsAbs(file):
		file = filepath.Join(string(d), file)
	}
	return os.ReadFile(file)
}

func (d dir) tls(c cluster, u user) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.Insecure}
	authority, err := d.pem(c.AuthorityData, c.Authority)
	if err != nil {
		return nil, fmt.Errorf("certificate-authority: %w", err)
	}
	if authority != nil {
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(authority) {
			return nil, errors.New("certificate-authority holds no certificate")
		}
	}
	cert, err := d.pem(u.CertificateData, u.Certificate)
	if err != nil {
		return nil, fmt.Errorf("client-certificate: %w", err)
	}
	key, err := d.pem(u.KeyData, u.Key)
	if err != nil {
		return nil, fmt.Errorf("client-key: %w", err)
	}
	if cert == nil && key == nil {
		return t, nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("client-certificate: %w", err)
	}
	t.Certificates = []tls.Certificate{pair}
	return t, nil
}

// credential is the Authorization header of a user; "" if it has none.
func (d dir) credential(u user) (string, error) {
	token := u.Token
	if token == "" && u.TokenFile != "" {
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

// Load makes the Service that a client configuration file describes. Errors name the file and
// what is wrong in it.
func Load(path string) (*Service, error) {
	s, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func load(path string) (*Service, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	var file config
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	where, who, err := file.current()
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(where.Server)
	if err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http" {
		return nil, fmt.Errorf("server %q is no URL", where.Server)
	}
	base := dir(filepath.Dir(path))
	transport, err := base.tls(where, who)
	if err != nil {
		return nil, err
	}
	credential, err := base.credential(who)
	if err != nil {
		return nil, err
	}
	return newService(where.Server, transport, credential), nil
}
