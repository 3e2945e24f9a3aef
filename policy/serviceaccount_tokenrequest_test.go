package policy_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// TestCreateToken tests the response and the claims.
func TestCreateToken(t *testing.T) {
	w := newFixture(t)
	answer, warnings, err := w.requestToken(tree.Tree{
		"metadata": tree.Tree{"managedFields": []any{"mine"}}, "status": tree.Tree{"token": "mine"},
		"spec": tree.Tree{"audiences": []any{"a"}, "expirationSeconds": int64(1200)},
	})
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	status := answer["status"].(tree.Tree)
	token := status["token"].(string)
	status["token"] = "…"
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"metadata":{"creationTimestamp":"2030-01-02T03:04:05Z","managedFields":[{"apiVersion":"authentication.platform.io/v1",` +
		`"fieldsType":"FieldsV1","fieldsV1":"{\"f:spec\":{\"f:audiences\":{},\"f:expirationSeconds\":{}}}","manager":"test","operation":"Update",` +
		`"subresource":"token","time":"2030-01-02T03:04:05Z"}],"name":"robot","namespace":"ns","uid":"u-robot"},` +
		`"spec":{"audiences":["a"],"expirationSeconds":1200},"status":{"expirationTimestamp":"2030-01-02T03:24:05Z","token":"…"}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	c := claims(t, token)
	delete(c, "jti")
	text, err = json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	const said = `{"aud":["a"],"exp":1893554645,"iat":1893553445,"iss":"https://issuer","nbf":1893553445,` +
		`"platform.io":{"namespace":"ns","serviceaccount":{"name":"robot","uid":"u-robot"}},"sub":"system:serviceaccount:ns:robot"}`
	if string(text) != said {
		t.Errorf("got  %s\nwant %s", text, said)
	}
}

func TestTokenLifetime(t *testing.T) {
	const year = 365 * 24 * 3600
	volume := func(more tree.Tree) tree.Tree {
		spec := boundObjectSpec("Pod", "pod", "")
		spec["expirationSeconds"] = int64(3607)
		for name, value := range more {
			spec[name] = value
		}
		return spec
	}
	for name, c := range map[string]struct {
		spec           tree.Tree
		longest        time.Duration
		extend         bool
		told, lasts    int64 // seconds
		warns, warning bool
	}{
		"as asked":            {tree.Tree{"expirationSeconds": int64(700)}, 0, true, 700, 700, false, false},
		"nothing asked":       {nil, 0, true, 3600, 3600, false, false},
		"too long":            {tree.Tree{"expirationSeconds": int64(9000)}, 2 * time.Hour, true, 7200, 7200, false, true},
		"as long as it may":   {tree.Tree{"expirationSeconds": int64(7200)}, 2 * time.Hour, true, 7200, 7200, false, false},
		"of a volume":         {volume(nil), 0, true, 3607, year, true, false},
		"not extended":        {volume(nil), 0, false, 3607, 3607, false, false},
		"shortened volume":    {volume(nil), time.Hour, true, 3600, 3600, false, true},
		"for others":          {volume(tree.Tree{"audiences": []any{"vault"}}), 0, true, 3607, 3607, false, false},
		"for both":            {volume(tree.Tree{"audiences": []any{audience, "vault"}}), 0, true, 3607, 3607, false, false},
		"one second less":     {volume(tree.Tree{"expirationSeconds": int64(3606)}), 0, true, 3606, 3606, false, false},
		"no Pod, same length": {tree.Tree{"expirationSeconds": int64(3607)}, 0, true, 3607, 3607, false, false},
	} {
		w := newFixture(t)
		w.handler.MaxExpiration, w.handler.ExtendExpiration = c.longest, c.extend
		if c.spec == nil {
			c.spec = tree.Tree{}
		}
		answer, warnings, err := w.requestToken(tree.Tree{"spec": c.spec})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		status := answer["status"].(tree.Tree)
		said := claims(t, status["token"].(string))
		end, err := time.Parse(time.RFC3339, status["expirationTimestamp"].(string))
		if err != nil {
			t.Fatal(err)
		}
		told, lasts := int64(end.Sub(startTime)/time.Second), int64(said["exp"].(float64)-said["iat"].(float64))
		_, warns := said["platform.io"].(map[string]any)["warnafter"]
		if told != c.told || lasts != c.lasts || warns != c.warns || (len(warnings) > 0) != c.warning {
			t.Errorf("%s: told %d, lasts %d, warns %t, %v", name, told, lasts, warns, warnings)
		}
	}
}

// TestPodWithoutNode tests that a missing node is named without a UID.
func TestPodWithoutNode(t *testing.T) {
	w := newFixture(t)
	delete(w.objects, key("nodes", "", "node"))
	user, err := w.authenticate(w.newToken(boundObjectSpec("Pod", "pod", "")))
	if err != nil || user.Extra["authentication.platform.io/node-name"] == nil || user.Extra["authentication.platform.io/node-uid"] != nil {
		t.Errorf("%+v, %v", user, err)
	}
}

func TestParseUsername(t *testing.T) {
	for name, ok := range map[string]bool{
		"system:serviceaccount:a:b": true, "system:serviceaccount:a:": false, "system:serviceaccount::b": false,
		"system:serviceaccount:a": false, "system:serviceaccount:a:b:c": false, "a:b": false, "": false,
	} {
		a, got := serviceaccount.ParseUsername(name)
		if got != ok || ok && (a.Username() != name || !strings.HasSuffix(a.Groups()[1], ":a")) {
			t.Errorf("%q: %+v, %t", name, a, got)
		}
	}
}
