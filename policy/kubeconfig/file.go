package kubeconfig

import "fmt"

// file is what a client configuration file says, as far as it is used here. Lists are by name, as users of
// kubectl write them; of equal names the first counts.
type file struct {
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

// Data fields win over paths, so that a file can be complete in itself.
type cluster struct {
	Server                   string `json:"server"`
	ProxyURL                 string `json:"proxy-url"`
	ServerName               string `json:"tls-server-name"`
	Insecure                 bool   `json:"insecure-skip-tls-verify"`
	CertificateAuthority     string `json:"certificate-authority"`
	CertificateAuthorityData string `json:"certificate-authority-data"`
}

// A file with a credential of an unsupported sort is refused rather than used without one.
type user struct {
	Certificate     string `json:"client-certificate"`
	CertificateData string `json:"client-certificate-data"`
	Key             string `json:"client-key"`
	KeyData         string `json:"client-key-data"`
	Token           string `json:"token"`
	TokenFile       string `json:"tokenFile"`
	Username        string `json:"username"`
	Password        string `json:"password"`
	// Exec and Provider name a program that gives the credential, which is not supported.
	Exec     any `json:"exec"`
	Provider any `json:"auth-provider"`
}

// current returns the cluster and the user of the current context. A file with one cluster and at
// most one user needs no context.
func (f *file) current() (cluster, user, error) {
	var clusterName, userName string
	for _, named := range f.Contexts {
		if named.Name == f.CurrentContext {
			clusterName, userName = named.Context.Cluster, named.Context.User
		}
	}
	if clusterName == "" {
		if f.CurrentContext != "" || len(f.Clusters) != 1 || len(f.Users) > 1 {
			return cluster{}, user{}, fmt.Errorf("current-context %q names no context of the file", f.CurrentContext)
		}
		clusterName = f.Clusters[0].Name
		if len(f.Users) == 1 {
			userName = f.Users[0].Name
		}
	}
	where, err := f.cluster(clusterName)
	if err != nil {
		return cluster{}, user{}, err
	}
	who, err := f.user(userName)
	return where, who, err
}

func (f *file) cluster(name string) (cluster, error) {
	for _, named := range f.Clusters {
		if named.Name == name {
			return named.Cluster, nil
		}
	}
	return cluster{}, fmt.Errorf("the file has no cluster %q", name)
}

// user finds a user by name. The name "" is a context without a user, which has no credential.
func (f *file) user(name string) (user, error) {
	for _, named := range f.Users {
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
