package policy_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

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
	golden := readCases[struct{ Answer, Claims object }](t, "serviceaccount/token")
	if string(text) != string(golden.Answer) {
		t.Errorf("got  %s\nwant %s", text, golden.Answer)
	}
	c := claims(t, token)
	delete(c, "jti")
	text, err = json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(golden.Claims) {
		t.Errorf("got  %s\nwant %s", text, golden.Claims)
	}
}

func TestTokenLifetime(t *testing.T) {
	for _, c := range readCases[[]struct {
		Name           string
		Spec           object
		Longest        int // in seconds, like the next fields
		Told, Lasts    int64
		NotExtended    bool
		Warns, Warning bool // whether there is a claim warnafter, and a warning
	}](t, "serviceaccount/lifetimes") {
		w := newFixture(t)
		w.handler.MaxExpiration, w.handler.ExtendExpiration = time.Duration(c.Longest)*time.Second, !c.NotExtended
		answer, warnings, err := w.requestToken(tree.Tree{"spec": parseTree(t, string(c.Spec))})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		status := answer["status"].(tree.Tree)
		said := claims(t, status["token"].(string))
		end, err := time.Parse(time.RFC3339, status["expirationTimestamp"].(string))
		if err != nil {
			t.Fatal(err)
		}
		reported, lasts := int64(end.Sub(startTime)/time.Second), int64(said["exp"].(float64)-said["iat"].(float64))
		_, warns := said["platform.io"].(map[string]any)["warnafter"]
		if reported != c.Told || lasts != c.Lasts || warns != c.Warns || (len(warnings) > 0) != c.Warning {
			t.Errorf("%s: reported %d, lasts %d, warns %t, %v", c.Name, reported, lasts, warns, warnings)
		}
	}
}

func TestPodWithoutNode(t *testing.T) {
	w := newFixture(t)
	w.set(t, "nodes /node", "")
	user, err := w.authenticate(w.newToken(boundTo("Pod pod")))
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
