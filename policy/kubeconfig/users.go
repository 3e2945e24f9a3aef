package kubeconfig

import (
	"fmt"
	"net"
	"strings"
)

// Users holds the users of a kubeconfig as credentials for many servers. The name of a user is that
// of the server: "host:port", or "host" for port 443. A leading "*." matches one or more DNS
// labels, and "*" matches all other servers.
type Users struct {
	users map[string]*Credential
	// fallback is the name of the current context's user, which applies to servers without a match.
	fallback string
}

// LoadUsers loads the users in the kubeconfig at path. It fails if a user or a referenced file is
// invalid.
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

// For returns the credential for a server, given as "host:port", or nil if there is none. u may be
// nil.
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

// candidates returns the user names that match a target, most specific first.
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
