package authn

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ProxyOptions configures the trusted proxies and their headers. Header names are case-insensitive.
type ProxyOptions struct {
	// Roots returns the CAs that issue the proxies' client certificates.
	Roots func() *x509.CertPool
	// AllowedNames lists the common names that a proxy's client certificate may have. If the list
	// is empty, any name is allowed.
	AllowedNames []string
	// UserHeaders and UIDHeaders list candidate headers. The first one with a value is used.
	UserHeaders, UIDHeaders []string
	// GroupHeaders lists the headers that contain the user's groups. Each header value is one
	// group.
	GroupHeaders []string
	// ExtraPrefixes lists the prefixes of headers with extra user attributes.
	ExtraPrefixes []string
	Now           func() time.Time
}

// Proxy authenticates users by the identity headers that an authenticating proxy sets. It trusts
// these headers only if the proxy presents a valid client certificate, and then removes them from
// the request. It has no opinion on requests without a user header or certificate.
func Proxy(o ProxyOptions) Authenticator {
	return &proxy{o, newVerifier(o.Roots, o.Now, func(leaf *x509.Certificate) (*User, error) {
		name := leaf.Subject.CommonName
		if len(o.AllowedNames) > 0 && !slices.Contains(o.AllowedNames, name) {
			return nil, fmt.Errorf("%q is not an allowed name of a proxy", name)
		}
		return &User{Name: name}, nil
	})}
}

type proxy struct {
	ProxyOptions
	verifier *verifier
}

func (p *proxy) Authenticate(r Request) (*User, error) {
	if len(r.Certs) == 0 || r.Headers == nil {
		return nil, nil
	}
	name := firstValue(r.Headers, p.UserHeaders)
	if name == "" {
		return nil, nil
	}
	proxy, err := p.verifier.Authenticate(Request{Certs: r.Certs})
	if err != nil {
		return nil, fmt.Errorf("identity headers: %w", err)
	}
	user := &User{Name: name, UID: firstValue(r.Headers, p.UIDHeaders), ValidUntil: proxy.ValidUntil}
	for _, header := range p.GroupHeaders {
		for _, group := range r.Headers.Values(header) {
			if group != "" {
				user.Groups = append(user.Groups, group)
			}
		}
	}
	believed := slices.Concat(p.UserHeaders, p.UIDHeaders, p.GroupHeaders)
	for header, value := range r.Headers.All() {
		if key, ok := p.extraKey(header); ok {
			if user.Extra == nil {
				user.Extra = map[string][]string{}
			}
			user.Extra[key] = append(user.Extra[key], value)
			believed = append(believed, header)
		}
	}
	for _, header := range believed {
		r.Headers.Remove(header)
	}
	return user, nil
}

func firstValue(h Headers, names []string) string {
	for _, name := range names {
		if values := h.Values(name); len(values) > 0 && values[0] != "" {
			return values[0]
		}
	}
	return ""
}

func (p *proxy) extraKey(header string) (string, bool) {
	for _, prefix := range p.ExtraPrefixes {
		if len(header) < len(prefix) || !strings.EqualFold(header[:len(prefix)], prefix) {
			continue
		}
		return ExtraKey(strings.ToLower(header[len(prefix):])), true
	}
	return "", false
}
