package daemon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/certs"
)

// RequestHeader configures the trusted authenticating proxies and their headers. A proxy can
// impersonate any user, so its certificate is as powerful as the administrator's.
type RequestHeader struct {
	ClientCAFile    string   `flag:"requestheader-client-ca-file"`
	AllowedNames    []string `flag:"requestheader-allowed-names"`
	UsernameHeaders []string `flag:"requestheader-username-headers"`
	UIDHeaders      []string `flag:"requestheader-uid-headers"`
	GroupHeaders    []string `flag:"requestheader-group-headers"`
	ExtraPrefixes   []string `flag:"requestheader-extra-headers-prefix"`
}

func (r RequestHeader) validate(f *faults) {
	for _, name := range slices.Concat(r.UsernameHeaders, r.UIDHeaders, r.GroupHeaders, r.ExtraPrefixes) {
		f.check(isHeaderName(name), "requestheader headers", fmt.Sprintf("%q is not a header name", name))
	}
}

func isHeaderName(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// authenticator reads the CAs for each request, because they may be reloaded.
func (r RequestHeader) authenticator(proxies *certs.CAs) authn.Authenticator {
	return authn.Proxy(authn.ProxyOptions{
		Roots: proxies.Pool, AllowedNames: r.AllowedNames,
		UserHeaders: r.UsernameHeaders, UIDHeaders: r.UIDHeaders, GroupHeaders: r.GroupHeaders, ExtraPrefixes: r.ExtraPrefixes,
		Now: time.Now,
	})
}
