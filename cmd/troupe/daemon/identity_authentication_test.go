package daemon

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/internal/must"
)

func TestAuthenticationFaults(t *testing.T) {
	for name, test := range map[string]struct {
		change func(a *Authentication)
		fault  string // "" is none
	}{
		"the defaults": {func(*Authentication) {}, ""},
		"a proxy": {func(a *Authentication) {
			a.RequestHeader = RequestHeader{ClientCAFile: "f", UsernameHeaders: []string{"X-Remote-User"}, ExtraPrefixes: []string{"X-Remote-Extra-"}}
		}, ""},
		"a proxy without headers":  {func(a *Authentication) { a.RequestHeader.ClientCAFile = "f" }, "requestheader-client-ca-file: requires"},
		"headers without a proxy":  {func(a *Authentication) { a.RequestHeader.UsernameHeaders = []string{"X"} }, "requestheader-client-ca-file: requires"},
		"groups without users":     {func(a *Authentication) { a.RequestHeader.GroupHeaders = []string{"X"} }, "needs requestheader-username-headers"},
		"a bad header":             {func(a *Authentication) { a.RequestHeader.UsernameHeaders = []string{"X Y"} }, `"X Y" is not a header name`},
		"an issuer":                {func(a *Authentication) { a.OIDC.IssuerURL, a.OIDC.ClientID = "https://a", "us" }, ""},
		"an issuer without client": {func(a *Authentication) { a.OIDC.IssuerURL = "https://a" }, "requires oidc-client-id"},
		"a client without issuer":  {func(a *Authentication) { a.OIDC.ClientID = "us" }, "requires oidc-client-id"},
		"a CA without issuer":      {func(a *Authentication) { a.OIDC.CAFile = "f" }, "oidc-ca-file: needs oidc-issuer-url"},
		"groups without issuer":    {func(a *Authentication) { a.OIDC.GroupsClaim = "groups" }, "oidc-groups-claim: needs oidc-issuer-url"},
		"an issuer in the clear":   {func(a *Authentication) { a.OIDC.IssuerURL, a.OIDC.ClientID = "http://a", "us" }, "not an https URL"},
		"no user claim":            {func(a *Authentication) { a.OIDC.UsernameClaim = "" }, "oidc-username-claim: must not be empty"},
		"a claim without value":    {func(a *Authentication) { a.OIDC.RequiredClaims = []string{"hd"} }, `"hd" is not of the form`},
		"an empty value": {func(a *Authentication) {
			a.OIDC.IssuerURL, a.OIDC.ClientID, a.OIDC.RequiredClaims = "https://a", "us", []string{"hd="}
		}, ""},
		"no name of the system":     {func(a *Authentication) { a.OIDC.SystemNames = []string{"masters"} }, `"masters" does not begin with system:`},
		"no algorithm":              {func(a *Authentication) { a.OIDC.SigningAlgs = nil }, "oidc-signing-algs: must not be empty"},
		"a symmetric algorithm":     {func(a *Authentication) { a.OIDC.SigningAlgs = []string{"RS256", "HS256"} }, `"HS256" is none of`},
		"the algorithm none":        {func(a *Authentication) { a.OIDC.SigningAlgs = []string{"none"} }, `"none" is none of`},
		"an unknown version":        {func(a *Authentication) { a.Webhook.Version = "v2" }, `"v2" is none of`},
		"a negative time":           {func(a *Authentication) { a.Webhook.CacheTTL = -1 }, "authentication-token-webhook-cache-ttl: -1ns is less than 0"},
		"open paths":                {func(a *Authentication) { a.AnonymousPaths = []string{"/livez"} }, ""},
		"an open path that is none": {func(a *Authentication) { a.AnonymousPaths = []string{"livez"} }, `"livez" does not begin with /`},
		"open paths for nobody":     {func(a *Authentication) { a.Anonymous, a.AnonymousPaths = false, []string{"/livez"} }, "anonymous-auth-paths: needs anonymous-auth"},
	} {
		c := Default()
		test.change(&c.Authentication)
		err := c.Validate()
		if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
			t.Errorf("%s: got %v, want %q", name, err, test.fault)
		}
	}
}

// TestAuthenticationFlags checks that flags override the file.
func TestAuthenticationFlags(t *testing.T) {
	flags := Default()
	given := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, g := range flags.Flags() {
		given.AddFlagSet(g.Flags)
	}
	must.Succeed(t, given.Parse([]string{
		"--requestheader-client-ca-file=p.crt", "--requestheader-allowed-names=a,b", "--requestheader-username-headers=X-U", "--requestheader-uid-headers=X-I",
		"--requestheader-group-headers=X-G", "--requestheader-group-headers=X-H", "--requestheader-extra-headers-prefix=X-E-",
		"--oidc-issuer-url=https://i", "--oidc-client-id=us", "--oidc-ca-file=i.crt", "--oidc-username-claim=email", "--oidc-username-prefix=-",
		"--oidc-groups-claim=g", "--oidc-groups-prefix=i:", "--oidc-required-claim=a=b,c", "--oidc-required-claim=d=e", "--oidc-signing-algs=ES256,RS256",
		"--authentication-token-webhook-config-file=w", "--authentication-token-webhook-cache-ttl=3s", "--authentication-token-webhook-version=v1",
	}))
	c := Default()
	must.Succeed(t, c.Read([]byte("requestheader-allowed-names: [x]\noidc-required-claim: [x=y]\noidc-signing-algs: [PS256]")))
	must.Succeed(t, c.Override(given))
	want := Default().Authentication
	want.RequestHeader = RequestHeader{
		ClientCAFile: "p.crt", AllowedNames: []string{"a", "b"}, UsernameHeaders: []string{"X-U"}, UIDHeaders: []string{"X-I"},
		GroupHeaders: []string{"X-G", "X-H"}, ExtraPrefixes: []string{"X-E-"},
	}
	want.OIDC = OIDC{
		IssuerURL: "https://i", ClientID: "us", CAFile: "i.crt", UsernameClaim: "email", UsernamePrefix: "-", GroupsClaim: "g", GroupsPrefix: "i:",
		RequiredClaims: []string{"a=b,c", "d=e"}, SigningAlgs: []string{"ES256", "RS256"},
	}
	want.Webhook = TokenWebhook{ConfigFile: "w", CacheTTL: Duration(3 * time.Second), Version: "v1"}
	if !reflect.DeepEqual(c.Authentication, want) {
		t.Errorf("got %+v\nwant %+v", c.Authentication, want)
	}
}
