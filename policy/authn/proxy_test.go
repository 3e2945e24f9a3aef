package authn_test

import (
	"crypto/x509"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/policy/authn"
)

// testHeaders is a list of name, value pairs.
type testHeaders []string

func (l *testHeaders) Values(name string) (values []string) {
	for n, v := range l.All() {
		if strings.EqualFold(n, name) {
			values = append(values, v)
		}
	}
	return values
}

func (l *testHeaders) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := 0; i < len(*l); i += 2 {
			if !yield(http.CanonicalHeaderKey((*l)[i]), (*l)[i+1]) {
				return
			}
		}
	}
}

func (l *testHeaders) Remove(name string) {
	for i := 0; i < len(*l); {
		if strings.EqualFold((*l)[i], name) {
			*l = slices.Delete(*l, i, i+2)
		} else {
			i += 2
		}
	}
}

func TestProxy(t *testing.T) {
	proxies, clients := newAuthority(t, nil, "proxies"), newAuthority(t, nil, "clients")
	roots := x509.NewCertPool()
	roots.AddCert(proxies.cert)
	front := func(change func(*x509.Certificate)) []*x509.Certificate {
		return []*x509.Certificate{proxies.client(t, func(c *x509.Certificate) {
			c.Subject.CommonName, c.Subject.Organization = "front", nil
			if change != nil {
				change(c)
			}
		})}
	}
	jane := testHeaders{"X-Remote-User", "jane"}
	tests := []struct {
		name    string
		certs   []*x509.Certificate
		headers testHeaders
		want    *authn.User // nil for no user
		fault   string
		left    testHeaders
	}{
		{"a user", front(nil), jane, &authn.User{Name: "jane"}, "", testHeaders{}},
		{"everything", front(nil), testHeaders{
			"x-remote-user", "jane", "X-REMOTE-GROUP", "a, b", "Accept", "*/*", "x-remote-group", "", "X-Other-Group", "c",
			"X-Remote-Uid", "u1", "x-remote-EXTRA-Acme.com%2FProject", "p1", "X-Remote-Extra-Acme.com%2fproject", "p2", "X-Remote-Extra-Bad%zz", "v",
		}, &authn.User{Name: "jane", UID: "u1", Groups: []string{"a, b", "c"}, Extra: map[string][]string{"acme.com/project": {"p1", "p2"}, "bad%zz": {"v"}}},
			"", testHeaders{"Accept", "*/*"}},
		{"the first header with a value", front(nil), testHeaders{"X-Other-User", "joe", "X-Remote-User", "", "X-Remote-User", "eve"},
			&authn.User{Name: "joe"}, "", testHeaders{}},
		{"an empty user", front(nil), testHeaders{"X-Remote-User", "", "X-Remote-Group", "system:masters"}, nil, "", testHeaders{"X-Remote-User", "", "X-Remote-Group", "system:masters"}},
		{"no headers", front(nil), nil, nil, "", nil},
		{"no certificate", nil, jane, nil, "", jane},
		{"an ordinary client", []*x509.Certificate{clients.client(t, nil)}, jane, nil, "unknown authority", jane},
		{"an ordinary client of that name", []*x509.Certificate{clients.client(t, func(c *x509.Certificate) { c.Subject.CommonName = "front" })}, jane, nil, "unknown authority", jane},
		{"another name", front(func(c *x509.Certificate) { c.Subject.CommonName = "back" }), jane, nil, `"back" is not an allowed name of a proxy`, jane},
		{"no name", front(func(c *x509.Certificate) { c.Subject.CommonName = "" }), jane, nil, "not an allowed name of a proxy", jane},
		{"expired", front(func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Minute) }), jane, nil, "expired", jane},
		{"for servers", front(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), jane, nil, "key usage", jane},
	}
	a := authn.Proxy(authn.ProxyOptions{
		Roots: func() *x509.CertPool { return roots }, AllowedNames: []string{"front", "side"},
		UserHeaders: []string{"x-remote-user", "X-Other-User"}, UIDHeaders: []string{"X-Remote-Uid"},
		GroupHeaders: []string{"X-Remote-Group", "X-Other-Group"}, ExtraPrefixes: []string{"X-Remote-Extra-"},
		Now: func() time.Time { return now },
	})
	for _, test := range tests {
		for range 2 { // the second time from the cache
			left := slices.Clone(test.headers)
			user, err := a.Authenticate(authn.Request{Certs: test.certs, Headers: &left})
			if !reflect.DeepEqual(withoutExpiry(user), test.want) {
				t.Errorf("%s: got %v, want %v", test.name, user, test.want)
			}
			if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("%s: got error %v, want %q", test.name, err, test.fault)
			}
			if !slices.Equal(left, test.left) {
				t.Errorf("%s: %q are left of the headers", test.name, left)
			}
		}
	}
}

func TestProxyOfAnyName(t *testing.T) {
	ca := newAuthority(t, nil, "proxies")
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	a := authn.Proxy(authn.ProxyOptions{
		Roots: func() *x509.CertPool { return roots }, UserHeaders: []string{"X-Remote-User"}, Now: func() time.Time { return now },
	})
	headers := testHeaders{"X-Remote-User", "jane", "X-Remote-Group", "g"}
	user, err := a.Authenticate(authn.Request{Certs: []*x509.Certificate{ca.client(t, nil)}, Headers: &headers})
	if err != nil || user == nil || user.Name != "jane" || user.Groups != nil {
		t.Errorf("got %v, %v", user, err)
	}
}
