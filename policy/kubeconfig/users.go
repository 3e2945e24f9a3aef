package kubeconfig

import (
	"fmt"
	"net"
	"strings"
)

// Users are the users of a client configuration file as credentials for many servers: the name of a user
// says for which. It is "host:port", or "host" where the port is 443; it may begin with "*.", which stands for one
// or more labels of the host; "*" stands for all servers that no other name is for.
type Users struct {
	users map[string]*Credential
	// fallback is the user of the current context, for servers that no name is for.
	fallback string
}

// LoadUsers reads the users of the file at path. It fails if one of them is broken, files that it names included.
func LoadUsers(path string) (*Users, error) {
	f, err := readFiles(path)
	if err != nil {
		return nil, err
	}
	u := &Users{users: map[string]*Credential{}, fallback: f.contexts[f.current].User}
	for name, one := range f.users {
		if u.users[name], err = newCredential(one, nil, Programs{}); err != nil {
			return nil, fmt.Errorf("client configuration %s: %w", path, err)
		}
	}
	return u, nil
}

// For is the credential for a server, which is named "host:port". The nil Users have none.
func (u *Users) For(target string) *Credential {
	if u == nil {
		return nil
	}
	names := candidates(target)
	if host, port, err := net.SplitHostPort(target); err == nil && port == "443" {
		names = append(names, candidates(host)...)
	}
	for _, name := range append(names, "*", u.fallback) {
		if one, ok := u.users[name]; ok {
			return one
		}
	}
	return nil
}

// candidates are the names that are for a target, the most specific first: "*.example.com" is for every
// host below it, at any depth.
func candidates(target string) []string {
	names := []string{target}
	for rest := target; ; {
		_, after, more := strings.Cut(rest, ".")
		if !more {
			return names
		}
		names, rest = append(names, "*."+after), after
	}
}
