package daemon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/certs"
)

// RequestHeader says which authenticating proxies are trusted, and in which headers they name users. A
// proxy can name any user, so its certificate is as powerful as the administrator's.
type RequestHeader struct {
	ClientCAFile    string   `json:"clientCAFile"`
	AllowedNames    []string `json:"allowedNames"`
	UsernameHeaders []string `json:"usernameHeaders"`
	UIDHeaders      []string `json:"uidHeaders"`
	GroupHeaders    []string `json:"groupHeaders"`
	ExtraPrefixes   []string `json:"extraHeadersPrefix"`
}

// defaultRequestHeader names no CA and no header, so that no proxy is believed.
func defaultRequestHeader() RequestHeader {
	return RequestHeader{
		AllowedNames: []string{}, UsernameHeaders: []string{}, UIDHeaders: []string{}, GroupHeaders: []string{}, ExtraPrefixes: []string{},
	}
}

// flags binds the section.
func (r *RequestHeader) flags(f *pflag.FlagSet) {
	f.StringVar(&r.ClientCAFile, "requestheader-client-ca-file", r.ClientCAFile, "PEM file of the CAs of proxies: only behind a certificate of one of them are identity headers believed. Do not use these CAs for anything else.")
	f.StringSliceVar(&r.AllowedNames, "requestheader-allowed-names", r.AllowedNames, "Common names of the proxies' certificates, with commas (default any).")
	f.StringSliceVar(&r.UsernameHeaders, "requestheader-username-headers", r.UsernameHeaders, "Headers that may hold the user's name, with commas, such as X-Remote-User; the first with a value counts.")
	f.StringSliceVar(&r.UIDHeaders, "requestheader-uid-headers", r.UIDHeaders, "Headers that may hold the user's uid, with commas, such as X-Remote-Uid; the first with a value counts.")
	f.StringSliceVar(&r.GroupHeaders, "requestheader-group-headers", r.GroupHeaders, "Headers that hold groups, with commas, such as X-Remote-Group; each value is a group.")
	f.StringSliceVar(&r.ExtraPrefixes, "requestheader-extra-headers-prefix", r.ExtraPrefixes, "What names of headers with extras begin with, with commas, such as X-Remote-Extra-.")
}

// Headers without a CA would be believed from everybody, or, as it is, from nobody; either is a mistake.
func (r RequestHeader) validate(f *faults) {
	given := len(r.UsernameHeaders) > 0
	f.check((r.ClientCAFile != "") == given, "authentication.requestHeader.clientCAFile", "goes together with authentication.requestHeader.usernameHeaders")
	f.check(given || len(r.AllowedNames)+len(r.UIDHeaders)+len(r.GroupHeaders)+len(r.ExtraPrefixes) == 0,
		"authentication.requestHeader.usernameHeaders", "must be given, as other settings of proxies are")
	for _, name := range slices.Concat(r.UsernameHeaders, r.UIDHeaders, r.GroupHeaders, r.ExtraPrefixes) {
		f.check(isHeaderName(name), "authentication.requestHeader", fmt.Sprintf("%q is no name of a header", name))
	}
}

// isHeaderName tells whether s can be the name of a header. A name that HTTP cannot carry would never
// match.
func isHeaderName(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// authenticator makes the authenticator of proxies. The authorities are asked for at each request, as their file is read
// again when it changes.
func (r RequestHeader) authenticator(proxies *certs.CAs) authn.Authenticator {
	return authn.Proxy(authn.ProxyOptions{
		Roots: proxies.Pool, AllowedNames: r.AllowedNames,
		UserHeaders: r.UsernameHeaders, UIDHeaders: r.UIDHeaders, GroupHeaders: r.GroupHeaders, ExtraPrefixes: r.ExtraPrefixes,
		Now: time.Now,
	})
}
