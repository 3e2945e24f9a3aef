package daemon

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/internal/must"
)

func TestFaults(t *testing.T) {
	for settings, fault := range map[string]string{ // "" for no error
		"{}": "",
		"{requestheader-client-ca-file: f, requestheader-username-headers: [X-Remote-User], requestheader-extra-headers-prefix: [X-Remote-Extra-]}": "",
		"requestheader-client-ca-file: f":                    "requestheader-client-ca-file: requires",
		"requestheader-username-headers: [X]":                "requestheader-client-ca-file: requires",
		"requestheader-group-headers: [X]":                   "needs requestheader-username-headers",
		"requestheader-username-headers: [X Y]":              `"X Y" is not a header name`,
		"{oidc-issuer-url: 'https://a', oidc-client-id: us}": "",
		"oidc-issuer-url: https://a":                         "requires oidc-client-id",
		"oidc-client-id: us":                                 "requires oidc-client-id",
		"oidc-ca-file: f":                                    "oidc-ca-file: needs oidc-issuer-url",
		"oidc-groups-claim: groups":                          "oidc-groups-claim: needs oidc-issuer-url",
		"oidc-username-claim: ''":                            "oidc-username-claim: must not be empty",
		"oidc-required-claim: [hd]":                          `"hd" is not of the form`,
		"{oidc-issuer-url: 'https://a', oidc-client-id: us, oidc-required-claim: [hd=]}": "",
		"oidc-allow-system-names: [masters]":                                             `"masters" does not begin with system:`,
		"oidc-signing-algs: []":                                                          "oidc-signing-algs: must not be empty",
		"oidc-signing-algs: [RS256, HS256]":                                              `"HS256": must be one of`,
		"oidc-signing-algs: [none]":                                                      `"none": must be one of`,
		"authentication-config: f":                                                       "",
		"{authentication-config: f, oidc-allow-system-names: [system:a], anonymous-auth: false}": "",
		"{authentication-config: f, oidc-issuer-url: 'https://a', oidc-client-id: us}":           "authentication-config: authentication-config file and oidc-* flags are mutually exclusive",
		"{authentication-config: f, oidc-signing-algs: [ES256]}":                                 "mutually exclusive",
		"authorization-config: f":                                                   "",
		"{authorization-config: f, authorization-policy-file: g}":                   "",
		"{authorization-config: f, authorization-mode: [Node, RBAC]}":               "authorization-config: --authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined",
		"{authorization-config: f, authorization-webhook-cache-authorized-ttl: 1s}": "can not be specified",
		"authentication-token-webhook-version: v2":                                  `"v2": must be one of`,
		"authentication-token-webhook-cache-ttl: -1ns":                              "authentication-token-webhook-cache-ttl: -1ns is less than 0",
		"anonymous-auth-paths: [/livez]":                                            "",
		"anonymous-auth-paths: [livez]":                                             `"livez" does not begin with /`,
		"{anonymous-auth: false, anonymous-auth-paths: [/livez]}":                   "anonymous-auth-paths: needs anonymous-auth",
		"tls-private-key-file: a.key":                                               "tls-cert-file: ",
		"tls-sni-cert-key: [a.crt]":                                                 "tls-sni-cert-key: ",
		"tls-min-version: VersionTLS11":                                             "tls-min-version: ",
		"tls-cipher-suites: [TLS_NULL]":                                             "tls-cipher-suites: ",
		"tls-curve-preferences: ['29', '29']":                                       "tls-curve-preferences: ",
		"tls-reload-period: 7m":                                                     "tls-reload-period: ",
		"strict-transport-security-directives: [preload]":                           "strict-transport-security-directives: ",
	} {
		c := Default()
		must.Succeed(t, c.Read([]byte(settings)))
		err := c.Validate()
		if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: got %v, want %q", settings, err, fault)
		}
	}
}

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
