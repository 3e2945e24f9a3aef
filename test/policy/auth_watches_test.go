package policy

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

const configMapsPath = core + "configmaps"

const watchRule = `{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","watch"]}`

func (r *userCluster) bindGroup(name, group string) {
	r.t.Helper()
	r.must(rbacPath+"/clusterroles", `{"metadata":{"name":"`+name+`"},"rules":[`+watchRule+`]}`)
	r.must(rbacPath+"/clusterrolebindings", `{"metadata":{"name":"`+name+`"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"`+name+`"},
		"subjects":[{"kind":"Group","apiGroup":"rbac.authorization.platform.io","name":"`+group+`"}]}`)
}

// TestWatchesEnd checks that a watch ends soon after its user loses access, whatever the cause.
// Other users' watches continue.
func TestWatchesEnd(t *testing.T) {
	t.Parallel()
	people, proxies, signer := pki.Authority(t, "people"), pki.Authority(t, "proxies"), pki.NewKey(t)
	r := newTokenCluster(t, func(c *daemon.Config, dir string) {
		a := &c.Authentication
		a.ClientCAFile, a.RequestHeader.ClientCAFile = filepath.Join(dir, "people.crt"), filepath.Join(dir, "proxies.crt")
		a.RequestHeader.UsernameHeaders, a.RequestHeader.GroupHeaders = []string{"X-Remote-User"}, []string{"X-Remote-Group"}
		c.ServiceAccounts.SigningKeyFile = filepath.Join(dir, "signer.key")
		c.TLS.ReloadPeriod = daemon.Duration(50 * time.Millisecond)
		c.Authorization.Modes = []string{"Node", "RBAC"}
		for path, text := range map[string][]byte{
			a.ClientCAFile: pki.PEM(people.Leaf), a.RequestHeader.ClientCAFile: pki.PEM(proxies.Leaf),
			c.ServiceAccounts.SigningKeyFile: pki.KeyPEM(t, signer),
		} {
			client.WriteFile(t, path, text)
		}
		users := "token-of-rita,rita,\ntoken-of-rolf,rolf,\ntoken-of-ruth,ruth,\ntoken-of-boss,boss,\ntoken-of-root,root,,system:masters\n" +
			"token-of-n1,system:node:n1,,system:nodes\ntoken-of-sue,sue,\n"
		client.WriteFile(t, a.TokenAuthFile, users)
	})
	for _, user := range []string{"rita", "rolf", "ruth", "boss", "sue", "jane", "system:bootstrap:abcdef"} {
		r.grant("watch-"+strings.ReplaceAll(user, ":", "-"), user, watchRule)
	}
	r.bindGroup("accounts", "system:serviceaccounts")
	r.bindGroup("proxied", "proxied")
	r.waitAllowed(`"user":"x","groups":["proxied"],"resourceAttributes":{"verb":"watch","resource":"configmaps"}`)
	r.waitAllowed(`"user":"x","groups":["system:serviceaccounts"],"resourceAttributes":{"verb":"watch","resource":"configmaps"}`)
	r.grant("impersonate", "boss", `{"apiGroups":[""],"resources":["users"],"verbs":["impersonate"]}`)
	const stream = configMapsPath + "?watch=1"
	bystanders := []*watcher{r.openWatch("bystander", "root", stream), r.openWatch("bystander", "sue", stream)}
	remove := func(path string) {
		t.Helper()
		if a := r.do("root", "DELETE", path, `{"gracePeriodSeconds":0}`); a.Code >= 300 {
			t.Fatal(path, a)
		}
	}
	account := func(name string) { r.must(core+"serviceaccounts", `{"metadata":{"name":"`+name+`"}}`) }
	token := func(name, spec string) string {
		t.Helper()
		a := r.do("root", "POST", core+"serviceaccounts/"+name+"/token", `{"spec":`+spec+`}`)
		if a.Code != 201 {
			t.Fatal(a)
		}
		return "Authorization: Bearer " + a.Object()["status"].(map[string]any)["token"].(string)
	}
	t.Run("binding deleted", func(t *testing.T) {
		one, all := r.openWatch("of one namespace", "rita", stream), r.openWatch("of all", "rita", "/api/v1/configmaps?watch=1")
		named := r.openWatch("of one object", "rita", configMapsPath+"/one?watch=1")
		remove(rbacPath + "/clusterrolebindings/watch-rita")
		for _, v := range []*watcher{one, all, named} {
			v.expectEnd(403)
		}
	})
	t.Run("role changed", func(t *testing.T) {
		v := r.openWatch("", "rolf", stream)
		r.expect("root", "PATCH", rbacPath+"/clusterroles/watch-rolf", `{"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]}`, 200)
		v.expectEnd(403)
	})
	t.Run("impersonated user", func(t *testing.T) {
		v := r.openWatch("", "boss", stream, "Impersonate-User: ruth")
		remove(rbacPath + "/clusterrolebindings/watch-ruth")
		v.expectEnd(403)
	})
	t.Run("impersonating user", func(t *testing.T) {
		v, own := r.openWatch("", "boss", stream, "Impersonate-User: sue"), r.openWatch("", "boss", stream)
		remove(rbacPath + "/clusterrolebindings/impersonate")
		v.expectEnd(403)
		remove(rbacPath + "/clusterrolebindings/watch-boss")
		own.expectEnd(403)
	})
	t.Run("account deleted", func(t *testing.T) {
		account("a1")
		v := r.openWatch("", "", stream, token("a1", "{}"))
		remove(core + "serviceaccounts/a1")
		v.expectEnd(401)
	})
	t.Run("Secret deleted", func(t *testing.T) {
		account("a2")
		r.must(core+"secrets", `{"metadata":{"name":"lock"}}`)
		bound := r.openWatch("bound", "", stream, token("a2", `{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"lock"}}`))
		r.must(core+"secrets", fmt.Sprintf(tokenSecret, "held", "a2"))
		filled := func(a client.Answer) bool { return a.Code == 200 && decoded(a.Object(), "token") != "" }
		held := decoded(r.eventually("filled", core+"secrets/held", filled).Object(), "token")
		legacy := r.openWatch("legacy", "", stream, "Authorization: Bearer "+held)
		remove(core + "secrets/lock")
		remove(core + "secrets/held")
		bound.expectEnd(401)
		legacy.expectEnd(401)
	})
	t.Run("Pod deleted", func(t *testing.T) {
		account("robot")
		r.must(core+"pods", pod)
		v := r.openWatch("", "", stream, token("robot", `{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}`))
		remove(core + "pods/p")
		v.expectEnd(401)
	})
	t.Run("account token ends", func(t *testing.T) {
		account("a3")
		uid := r.do("root", "GET", core+"serviceaccounts/a3", "").Object().UID()
		var v *watcher
		whileValid(t, func(life time.Duration) bool {
			now := time.Now()
			claims := jwt.MapClaims{
				"iss": ownToken, "aud": []string{ownToken}, "sub": "system:serviceaccount:default:a3", "iat": now.Unix() - 600, "nbf": now.Unix() - 600, "jti": "j",
				"exp":         now.Add(life - time.Minute).Unix(), // the authenticator allows one minute of clock skew
				"platform.io": map[string]any{"namespace": "default", "serviceaccount": map[string]any{"name": "a3", "uid": uid}},
			}
			text, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(signer)
			if err != nil {
				t.Fatal(err)
			}
			v = r.watch("", "", stream, "Authorization: Bearer "+text)
			return v.open() == 200
		})
		v.expectEnd(401)
	})
	t.Run("bootstrap token ends", func(t *testing.T) {
		var v *watcher
		whileValid(t, func(life time.Duration) bool {
			end := time.Now().Add(life).UTC().Format(time.RFC3339)
			// Delete the Secret of an earlier attempt, which the token cleaner may not have deleted
			// yet.
			r.do("root", "DELETE", systemSecrets+"/bootstrap-token-abcdef", "")
			r.must(systemSecrets, `{"metadata":{"name":"bootstrap-token-abcdef"},"type":"bootstrap.platform.io/token","stringData":{
				"token-id":"abcdef","token-secret":"0123456789abcdef","usage-bootstrap-authentication":"true","expiration":"`+end+`"}}`)
			v = r.watch("", "", stream, "Authorization: Bearer abcdef.0123456789abcdef")
			return v.open() == 200
		})
		v.expectEnd(401)
	})
	t.Run("certificate ends", func(t *testing.T) {
		var direct, proxied *watcher
		whileValid(t, func(life time.Duration) bool {
			short := &x509.Certificate{
				Subject: pkix.Name{CommonName: "jane"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, NotAfter: time.Now().Add(life),
			}
			direct = r.withCertificate(pki.Issue(t, people, short)).watch("direct", "", stream)
			short.Subject.CommonName = "proxy"
			proxied = r.withCertificate(pki.Issue(t, proxies, short)).watch("proxied", "", stream, "X-Remote-User: tim", "X-Remote-Group: devs", "X-Remote-Group: proxied")
			return direct.open() == 200 && proxied.open() == 200
		})
		direct.expectEnd(401)
		proxied.expectEnd(401)
	})
	t.Run("node's Pod deleted", func(t *testing.T) {
		r.must(core+"secrets", `{"metadata":{"name":"s"}}`)
		r.must(core+"pods", `{"metadata":{"name":"q"},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i","envFrom":[{"secretRef":{"name":"s"}}]}]}}`)
		userCluster{Server: r.Server, t: t, transport: r.transport}.eventuallyAs("n1", core+"secrets/s")
		v := r.openWatch("", "n1", core+"secrets?watch=1&fieldSelector=metadata.name%3Ds")
		remove(core + "pods/q")
		v.expectEnd(403)
	})
	t.Run("WebSocket", func(t *testing.T) {
		r.grant("socket", "rita", watchRule)
		dialer := websocket.Dialer{TLSClientConfig: r.transport.TLSClientConfig.Clone()}
		c, _, err := dialer.DialContext(t.Context(), "wss"+strings.TrimPrefix(r.URL, "https")+stream, http.Header{"Authorization": {"Bearer token-of-rita"}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		remove(rbacPath + "/clusterrolebindings/socket")
		_ = c.SetReadDeadline(time.Now().Add(client.Watchdog))
		var last string
		for {
			_, text, err := c.ReadMessage()
			if err != nil {
				if !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
					t.Errorf("the end: %v", err)
				}
				break
			}
			last = string(text)
		}
		if !strings.Contains(last, `"type":"ERROR"`) || !strings.Contains(last, `"code":403`) {
			t.Errorf("the last event: %s", last)
		}
	})
	t.Run("CA gone", func(t *testing.T) {
		v := r.withCertificate(pki.Client(t, people, "jane")).openWatch("", "", stream)
		client.WriteFile(t, filepath.Join(r.dir, "people.crt"), pki.PEM(pki.Authority(t, "others").Leaf))
		v.expectEnd(401)
	})
	r.must(configMapsPath, `{"metadata":{"name":"last"}}`)
	for _, v := range bystanders {
		v.expectEvent("last")
	}
}

func (r userCluster) eventuallyAs(user, path string) {
	r.t.Helper()
	r.eventually(user, path, 200)
}

// TestWatchesOfRemotes checks that decisions of remote authenticators and authorizers also expire
// for open watches. A watch continues if the remote server fails.
func TestWatchesOfRemotes(t *testing.T) {
	t.Parallel()
	d, m := newTokenWebhookServer(t), newAuthzWebhookServer(t)
	ca := pki.Authority(t, "provider")
	p := newIdentityProvider(t, ca)
	p.open()
	r := serveUsers(t, func(c *daemon.Config, dir string) {
		c.Authentication.Webhook.ConfigFile, c.Authentication.Webhook.CacheTTL = d.kubeconfig(t, dir), daemon.Duration(100*time.Millisecond)
		c.Authorization.Modes = []string{"RBAC", "Webhook"}
		w := &c.Authorization.Webhook
		w.ConfigFile, w.CacheAuthorizedTTL, w.CacheUnauthorizedTTL = m.kubeconfig(t, dir), daemon.Duration(100*time.Millisecond), daemon.Duration(100*time.Millisecond)
		o := &c.Authentication.OIDC
		o.IssuerURL, o.ClientID, o.CAFile = p.url, "troupe", filepath.Join(dir, "provider.crt")
		client.WriteFile(t, o.CAFile, pki.PEM(ca.Leaf))
	}, "fickle")
	r.grant("wendy", "wendy", watchRule)
	r.grant("jane", p.url+"#jane", watchRule)
	const stream = configMapsPath + "?watch=1"

	long := p.token("jane", nil)
	client.Eventually(t, func() error {
		if a := r.do("", "POST", selfReviewPath, "{}", "Authorization: Bearer "+long); a.Code != 201 {
			return fmt.Errorf("the provider's keys are not known: %s", a)
		}
		return nil
	})
	var jane *watcher
	whileValid(t, func(life time.Duration) bool {
		token := p.token("jane", map[string]any{"exp": time.Now().Add(life).Unix()})
		jane = r.watch("an identity token", "", stream, "Authorization: Bearer "+token)
		return jane.open() == 200
	})
	wendy := r.openWatch("a token of the webhook", "", stream, "Authorization: Bearer fickle")
	fickle := r.openWatch("a right of the webhook", "fickle", stream)
	asked := func() int64 { return min(d.requests.Load(), m.requests.Load()) }
	wait := func(more int64) {
		before := asked()
		client.Eventually(t, func() error {
			if asked() < before+more {
				return errors.New("the remotes are not asked again")
			}
			return nil
		})
	}
	wait(2)
	d.failing.Store(true)
	m.failing.Store(true)
	wait(1)
	d.failing.Store(false)
	m.failing.Store(false)
	r.must(configMapsPath, `{"metadata":{"name":"seen"}}`)
	wendy.expectEvent("seen")
	fickle.expectEvent("seen")
	d.revoked.Store(true)
	m.revoked.Store(true)
	wendy.expectEnd(401)
	fickle.expectEnd(403)
	jane.expectEnd(401)
}
