package policy

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// TestVolumeTokens checks that a volume token has the requested lifetime, or one year with
// ExtendTokenExpiration.
func TestVolumeTokens(t *testing.T) {
	t.Parallel()
	for _, extended := range []bool{false, true} {
		r := newTokenCluster(t, func(c *daemon.Config, _ string) {
			if extended {
				c.ServiceAccounts.ExtendTokenExpiration = true
			}
		})
		r.recreateAccount()
		r.must(core+"pods", pod)
		c := claimsOf(t, r.token(`{"expirationSeconds":3607,"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}`))
		life, warnAfter := c["exp"].(float64)-c["iat"].(float64), c["platform.io"].(map[string]any)["warnafter"]
		if extended && (life != 365*24*3600 || warnAfter != c["iat"].(float64)+3607) || !extended && (life != 3607 || warnAfter != nil) {
			t.Errorf("extended %t: it lasts %v s, and warns after %v", extended, life, warnAfter)
		}
	}
}

// TestClusterInfo checks that anonymous clients can read cluster-info, which contains the server's
// CA for new nodes.
func TestClusterInfo(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, nil, "rita")
	const path = "/api/v1/namespaces/platform-public/configmaps/cluster-info"
	r.eventually("", path, 200)
	r.expect("", "GET", path, "", 200, "certificate-authority-data: LS0", "server: "+r.URL)
	r.replay("auth/cluster-info")
}

// TestAuthAlwaysDeny checks that AlwaysDeny rejects every request of users other than the
// administrator.
func TestAuthAlwaysDeny(t *testing.T) {
	t.Parallel()
	serveUsers(t, func(c *daemon.Config, dir string) {
		c.Authorization.Modes = []string{"AlwaysDeny", "ABAC", "RBAC"}
		c.Authorization.PolicyFile = policies(t, dir, `"user":"rita","namespace":"*","resource":"*","apiGroup":"*"`)
	}, "rita").replay("auth/always-deny")
}

// TestRefusedElsewhere checks that the token webhook also receives a token that OIDC rejected, and
// rejects it. System groups in a token are dropped unless the configuration allows them.
func TestRefusedElsewhere(t *testing.T) {
	t.Parallel()
	d := newTokenWebhookServer(t)
	ca := pki.Authority(t, "provider")
	p := newIdentityProvider(t, ca)
	p.open()
	r := newTokenCluster(t, func(c *daemon.Config, dir string) {
		c.Authentication.Webhook.ConfigFile = d.kubeconfig(t, dir)
		o := &c.Authentication.OIDC
		o.IssuerURL, o.ClientID, o.CAFile, o.GroupsClaim = p.url, "troupe", filepath.Join(dir, "provider.crt"), "groups"
		o.UsernamePrefix, o.SystemNames = "-", []string{"system:monitoring", "system:boss"}
		client.WriteFile(t, o.CAFile, pki.PEM(ca.Leaf))
	})
	client.Eventually(t, func() error {
		if a := r.reviewSelf(p.token("jane", nil)); a.Code != 201 {
			return fmt.Errorf("the provider's keys are not known: %s", a)
		}
		return nil
	})
	d.requests.Store(0)
	for label, token := range map[string]string{
		"ended": p.token("jane", map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), "for others": p.token("jane", map[string]any{"aud": "x"}),
		"forged": p.token("jane", nil) + "A", "groups in one text": p.token("jane", map[string]any{"groups": "devs"}),
		"a user of the system": p.token("system:admin", nil),
		"an account":           p.token("system:serviceaccount:default:default", nil),
	} {
		r.expectCode(label, token, 401)
		r.want(label, r.do("root", "POST", reviews, `{"spec":{"token":"`+token+`"}}`), 201, `"error":"invalid bearer token"`)
	}
	if d.requests.Load() == 0 {
		t.Error("the webhook was not asked")
	}
	r.want("a master", r.reviewSelf(p.token("jane", map[string]any{"groups": []string{"devs", "system:masters"}})), 201, `"username":"jane","groups":["devs","system:authenticated"]`)
	r.want("allowed names", r.reviewSelf(p.token("system:boss", map[string]any{"groups": []string{"system:monitoring"}})), 201, `"username":"system:boss","groups":["system:monitoring","system:authenticated"]`)
	r.expectCode("of the webhook", "good", 201)
}

// TestServingKeyVerifies checks that, without token keys, the serving key verifies legacy tokens
// from Secrets but not bound tokens.
func TestServingKeyVerifies(t *testing.T) {
	t.Parallel()
	serving := pki.Server(t, pki.Authority(t, "serving"), "127.0.0.1")
	for _, named := range []bool{false, true} {
		r := newTokenCluster(t, func(c *daemon.Config, dir string) {
			for name, text := range map[string][]byte{
				"serving.crt": pki.PEM(serving.Leaf), "serving.key": pki.KeyPEM(t, serving.PrivateKey), "other.key": pki.KeyPEM(t, pki.NewKey(t)),
			} {
				client.WriteFile(t, filepath.Join(dir, name), text)
			}
			c.TLS.SNICertKeys = nil
			c.TLS.CertFile, c.TLS.PrivateKeyFile = filepath.Join(dir, "serving.crt"), filepath.Join(dir, "serving.key")
			if named {
				c.ServiceAccounts.KeyFiles = []string{filepath.Join(dir, "other.key")}
			}
		})
		r.transport.TLSClientConfig.InsecureSkipVerify = true
		r.recreateAccount()
		uid := r.do("root", "GET", robot, "").Object().UID()
		sign := func(claims jwt.MapClaims) string {
			text, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(serving.PrivateKey)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		const names = "platform.io/serviceaccount/"
		legacy := sign(jwt.MapClaims{
			"iss": "platform/serviceaccount", "sub": "system:serviceaccount:default:robot", names + "namespace": "default",
			names + "secret.name": "old", names + "service-account.name": "robot", names + "service-account.uid": uid,
		})
		r.must(core+"secrets", `{"metadata":{"name":"old","annotations":{"platform.io/service-account.name":"robot"}},"type":"platform.io/service-account-token","stringData":{"token":"`+legacy+`"}}`)
		now := time.Now().Unix()
		bound := sign(jwt.MapClaims{
			"iss": ownToken, "aud": []string{ownToken}, "sub": "system:serviceaccount:default:robot", "iat": now, "nbf": now, "exp": now + 600, "jti": "j",
			"platform.io": map[string]any{"namespace": "default", "serviceaccount": map[string]any{"name": "robot", "uid": uid}},
		})
		r.expectCode(fmt.Sprint("bound, keys named: ", named), bound, 401)
		want := 201
		if named {
			want = 401
		}
		r.expectCode(fmt.Sprint("legacy, keys named: ", named), legacy, want)
	}
}

// TestFaultyFiles checks that errors for unusable files contain the file name and the flag.
func TestFaultyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	client.WriteFile(t, bad, "{rubbish")
	for flag, change := range map[string]func(*daemon.Config){
		"--client-ca-file":  func(c *daemon.Config) { c.Authentication.ClientCAFile = bad },
		"--token-auth-file": func(c *daemon.Config) { c.Authentication.TokenAuthFile = bad },
		"--requestheader-client-ca-file": func(c *daemon.Config) {
			c.Authentication.RequestHeader.ClientCAFile, c.Authentication.RequestHeader.UsernameHeaders = bad, []string{"X-U"}
		},
		"--oidc-ca-file": func(c *daemon.Config) {
			o := &c.Authentication.OIDC
			o.IssuerURL, o.ClientID, o.CAFile = "https://p", "x", bad
		},
		"--authentication-token-webhook-config-file": func(c *daemon.Config) { c.Authentication.Webhook.ConfigFile = bad },
		"--authorization-webhook-config-file": func(c *daemon.Config) {
			c.Authorization.Modes, c.Authorization.Webhook.ConfigFile = []string{"Webhook"}, bad
		},
		"--authorization-policy-file":        func(c *daemon.Config) { c.Authorization.Modes, c.Authorization.PolicyFile = []string{"ABAC"}, bad },
		"--service-account-signing-key-file": func(c *daemon.Config) { c.ServiceAccounts.SigningKeyFile = bad },
		"--service-account-private-key-file": func(c *daemon.Config) { c.ServiceAccounts.PrivateKeyFile = bad },
		"--service-account-key-file":         func(c *daemon.Config) { c.ServiceAccounts.KeyFiles = []string{bad} },
		"--tls-cert-file":                    func(c *daemon.Config) { c.TLS.CertFile, c.TLS.PrivateKeyFile = bad, bad },
		"--tls-sni-cert-key":                 func(c *daemon.Config) { c.TLS.SNICertKeys = []string{bad + "," + bad} },
		"--audit-policy-file":                func(c *daemon.Config) { c.Audit.PolicyFile = bad },
		"--audit-webhook-config-file":        func(c *daemon.Config) { c.Audit.Webhook.ConfigFile = bad },
	} {
		config := daemon.Default()
		config.DataDir, config.Serving.SecurePort = filepath.Join(t.TempDir(), "data"), 0
		change(&config)
		d, err := daemon.New(config, nil)
		if err == nil {
			if err = d.Start(); err == nil {
				_ = d.Stop(t.Context())
			}
		}
		if err == nil || !strings.Contains(err.Error(), flag) || !strings.Contains(err.Error(), bad) && flag != "--tls-cert-file" && flag != "--tls-sni-cert-key" {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestOddBootstrapSecrets checks that Secrets with an invalid bootstrap token authenticate no
// client, and that the log explains why.
func TestOddBootstrapSecrets(t *testing.T) {
	t.Parallel()
	log := &client.Log{}
	c := daemon.Default()
	c.DataDir, c.Serving.SecurePort, c.BootstrapTokens.Enabled = filepath.Join(t.TempDir(), "data"), 0, true
	d, err := daemon.New(c, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Stop(t.Context()) }()
	admin, err := client.New(d.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	config := admin.TLS.Clone()
	config.Certificates = nil
	anonymous := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}, Timeout: client.Watchdog}
	const good, kind = `"token-id":"abcdef","token-secret":"0123456789abcdef"`, "bootstrap.platform.io/token"
	const use = `,"usage-bootstrap-authentication":"true"`
	for data, want := range map[string]string{
		`"token-id":"abcdef"` + use:                          "token-id or token-secret are missing",
		`"token-secret":"0123456789abcdef"` + use:            "its name is not bootstrap-token- followed by its token-id",
		`"token-id":"abcdef","token-secret":"SHORT"` + use:   "token-id or token-secret are missing",
		good + use + `,"expiration":"tomorrow"`:              "expiration is not a time",
		good + `,"usage-bootstrap-authentication":"yes"`:     "usage-bootstrap-authentication is neither true nor false",
		good + use + `,"usage-bootstrap-signing":"1"`:        "usage-bootstrap-signing is neither true nor false",
		good + use + `,"auth-extra-groups":"system:masters"`: "auth-extra-groups has groups that are not allowed",
		good + `,"usage-bootstrap-authentication":"false"`:   "may not authenticate requests",
		good + use + `,"expiration":"2020-01-01T00:00:00Z"`:  "has expired",
	} {
		secret := `{"metadata":{"name":"bootstrap-token-abcdef"},"type":"` + kind + `","stringData":{` + data + `}}`
		if a, err := admin.Create(t.Context(), systemSecrets, []byte(secret)); err != nil || a.Code != 201 {
			t.Fatal(a, err)
		}
		q, _ := http.NewRequest("GET", d.URL()+"/api", nil)
		q.Header.Set("Authorization", "Bearer abcdef.0123456789abcdef")
		answer, err := anonymous.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != 401 || !strings.Contains(log.String(), want) {
			t.Errorf("%s: %d, and the log does not say %q", data, answer.StatusCode, want)
		}
		if a, err := admin.Delete(t.Context(), systemSecrets+"/bootstrap-token-abcdef", nil); err != nil || a.Code != 200 {
			t.Fatal(a, err)
		}
	}
	if strings.Contains(log.String(), "0123456789abcdef") {
		t.Error("the log holds the token")
	}
}
