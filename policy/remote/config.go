package remote

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

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
	Server                   string `json:"server"`
	ProxyURL                 string `json:"proxy-url"`
	ServerName               string `json:"tls-server-name"`
	Insecure                 bool   `json:"insecure-skip-tls-verify"`
	CertificateAuthority     string `json:"certificate-authority"`
	CertificateAuthorityData string `json:"certificate-authority-data"`
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
	// Exec and Provider get a credential from elsewhere, which is not done here.
	Exec     any `json:"exec"`
	Provider any `json:"auth-provider"`
}

// current is the cluster and the user of the current context. A file with one cluster, and
// one user at most, needs no context.
func (c *config) current() (cluster, user, error) {
	var clusterName, userName string
	for _, named := range c.Contexts {
		if named.Name == c.CurrentContext {
			clusterName, userName = named.Context.Cluster, named.Context.User
		}
	}
	if clusterName == "" {
		if c.CurrentContext != "" || len(c.Clusters) != 1 || len(c.Users) > 1 {
			return cluster{}, user{}, fmt.Errorf("current-context %q names no context of the file", c.CurrentContext)
		}
		clusterName = c.Clusters[0].Name
		if len(c.Users) == 1 {
			userName = c.Users[0].Name
		}
	}
	where, err := c.cluster(clusterName)
	if err != nil {
		return cluster{}, user{}, err
	}
	who, err := c.user(userName)
	return where, who, err
}

func (c *config) cluster(name string) (cluster, error) {
	for _, named := range c.Clusters {
		if named.Name == name {
			return named.Cluster, nil
		}
	}
	return cluster{}, fmt.Errorf("the file has no cluster %q", name)
}

// user is nobody for the name "".
func (c *config) user(name string) (user, error) {
	for _, named := range c.Users {
		if named.Name != name {
			continue
		}
		if named.User.Exec != nil || named.User.Provider != nil {
			return user{}, fmt.Errorf("user %q gets its credential from a program, which is not supported", name)
		}
		return named.User, nil
	}
	if name != "" {
		return user{}, fmt.Errorf("the file has no user %q", name)
	}
	return user{}, nil
}

// Load makes the Service that a client configuration file describes. Errors name the file and
// what is wrong in it.
func Load(path string) (*Client, error) {
	s, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("client configuration %s: %w", path, err)
	}
	return s, nil
}

func load(path string) (*Client, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file config
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, errors.New("the file is no client configuration in YAML") // an excerpt might be secret
	}
	where, who, err := file.current()
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(where.Server)
	if err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http" {
		return nil, errors.New("server is no http or https URL")
	}
	base := baseDir(filepath.Dir(path))
	transport := newTransport()
	if transport.TLSClientConfig, err = base.tls(where, who); err != nil {
		return nil, err
	}
	if transport.Proxy, err = where.proxy(); err != nil {
		return nil, err
	}
	credential := func() (string, error) { return base.authorization(who) }
	if _, err := credential(); err != nil {
		return nil, err
	}
	return newClient(where.Server, transport, credential), nil
}
