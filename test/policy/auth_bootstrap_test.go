package policy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

const systemSecrets = "/api/v1/namespaces/platform-system/secrets"

// bootstrapAuth checks that bootstrap tokens authenticate clients, sign cluster-info, and are
// deleted after they expire.
func bootstrapAuth(t *testing.T, r tokenCluster) {
	put := func(id, more string) string {
		r.do("root", "DELETE", systemSecrets+"/bootstrap-token-"+id, "")
		r.must(systemSecrets, `{"metadata":{"name":"bootstrap-token-`+id+`"},"type":"bootstrap.platform.io/token","stringData":{
			"token-id":"`+id+`","token-secret":"0123456789abcdef"`+more+`}}`)
		return id + ".0123456789abcdef"
	}
	const use = `,"usage-bootstrap-authentication":"true"`
	good := put("abcdef", use+`,"usage-bootstrap-signing":"true","auth-extra-groups":"system:bootstrappers:workers"`)
	r.want("whose", r.reviewSelf(good), 201, `"username":"system:bootstrap:abcdef"`, `"groups":["system:bootstrappers","system:bootstrappers:workers","system:authenticated"]`)
	for name, token := range map[string]string{
		"wrong secret":    "abcdef.0123456789abcdeF",
		"another secret":  "abcdef.0123456789abcdee",
		"another id":      "abcdeg.0123456789abcdef",
		"not for that":    put("aaaaaa", ""),
		"foreign group":   put("cccccc", use+`,"auth-extra-groups":"system:masters"`),
		"expired":         put("dddddd", use+`,"expiration":"2020-01-01T00:00:00Z"`),
		"no expiration":   put("eeeeee", use+`,"expiration":"soon"`),
		"wrong expresses": strings.ToUpper(good),
	} {
		r.expectCode(name, token, 401)
	}
	r.eventuallyGone(systemSecrets + "/bootstrap-token-dddddd")
	r.eventuallyGone(systemSecrets + "/bootstrap-token-eeeeee")
	soon := put("ffffff", use+`,"expiration":"`+time.Now().Add(2*time.Second).UTC().Format(time.RFC3339)+`"`)
	r.eventuallyGone(systemSecrets + "/bootstrap-token-ffffff")
	r.expectCode("ended", soon, 401)

	const info = "/api/v1/namespaces/platform-public/configmaps"
	r.expect("root", "PATCH", info+"/cluster-info", `{"data":{"kubeconfig":"clusters: []\n","jws-kubeconfig-zzzzzz":"stale"}}`, 200)
	signed := r.eventually("signed", info+"/cluster-info", func(a client.Answer) bool {
		return a.Object().Data("jws-kubeconfig-abcdef") != "" && a.Object().Data("jws-kubeconfig-zzzzzz") == ""
	}).Object()
	head, signature, _ := strings.Cut(signed.Data("jws-kubeconfig-abcdef"), "..")
	mac := hmac.New(sha256.New, []byte(good))
	mac.Write([]byte(head + "." + base64.RawURLEncoding.EncodeToString([]byte("clusters: []\n"))))
	header, err := base64.RawURLEncoding.DecodeString(head)
	if want := base64.RawURLEncoding.EncodeToString(mac.Sum(nil)); signature != want || err != nil || string(header) != `{"alg":"HS256","kid":"abcdef"}` {
		t.Errorf("signature %s under %s, want %s", signature, header, want)
	}
	if data, _ := signed["data"].(map[string]any); len(data) != 2 {
		t.Errorf("signatures of tokens that there are not: %v", data)
	}
	r.expect("root", "DELETE", systemSecrets+"/bootstrap-token-abcdef", "", 200)
	r.expectCode("deleted", good, 401)
	r.eventually("no longer signed", info+"/cluster-info", func(a client.Answer) bool { return a.Object().Data("jws-kubeconfig-abcdef") == "" })
}
