package policy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// An authzWebhookServer decides by user name. It allows good, denies wicked, and delays the
// response for slow.
type authzWebhookServer struct{ reviewServer }

func newAuthzWebhookServer(t *testing.T) *authzWebhookServer {
	m := &authzWebhookServer{}
	m.start(t, "decide", m)
	return m
}

func (m *authzWebhookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.requests.Add(1)
	if m.failing.Load() {
		w.WriteHeader(500)
		return
	}
	body, _ := io.ReadAll(r.Body)
	m.lastRequest.Store(string(body))
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Spec       struct {
			User string `json:"user"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		w.WriteHeader(400)
		return
	}
	status := `{"allowed":false,"reason":"never heard of you"}`
	if review.Spec.User == "fickle" && !m.revoked.Load() {
		status = `{"allowed":true}`
	}
	switch review.Spec.User {
	case "broken":
		w.WriteHeader(404)
		return
	case "slow":
		<-m.unblock
		status = `{"allowed":true}`
	case "good":
		status = `{"allowed":true}`
	case "wicked":
		status = `{"allowed":false,"denied":true,"reason":"you know why"}`
	}
	fmt.Fprintf(w, `{"apiVersion":%q,"kind":%q,"status":%s}`, review.APIVersion, review.Kind, status)
}

// TestAuthorizationWebhook checks an authorization webhook that precedes RBAC.
func TestAuthorizationWebhook(t *testing.T) {
	t.Parallel()
	m := newAuthzWebhookServer(t)
	r := serveUsers(t, func(c *daemon.Config, dir string) {
		c.Authorization.Modes = []string{"Webhook", "RBAC"}
		c.Authorization.Webhook.ConfigFile, c.Authorization.Webhook.Version = m.kubeconfig(t, dir), "v1"
	}, "good=a", "wicked", "slow", "broken", "other")
	rules := `{"apiGroups":[""],"resources":["configmaps"],"verbs":["*"]}`
	r.bind("wicked", "wicked", rules)
	r.grant("broken", "broken", rules)
	r.grant("other", "other", rules)

	r.expect("good", "GET", configMaps+"?fieldSelector=metadata.name%3Da&labelSelector=b", "", 200)
	if got, want := m.lastRequest.Load(), `"spec":{"groups":["a","system:authenticated"],`+
		`"resourceAttributes":{"fieldSelector":{"requirements":[{"key":"metadata.name","operator":"In","values":["a"]}]},"labelSelector":{"requirements":[{"key":"b","operator":"Exists"}]},`+
		`"name":"a","namespace":"default","resource":"configmaps","verb":"list","version":"v1"},"user":"good"}`; !strings.Contains(got.(string), want) {
		t.Errorf("asked %s\nwant  %s", got, want)
	}
	before := m.requests.Load()
	r.expect("good", "GET", configMaps+"/x", "", 404)
	r.expect("good", "GET", configMaps+"/x", "", 404)
	if got := m.requests.Load() - before; got != 1 {
		t.Errorf("asked %d times for one question", got)
	}
	r.expect("wicked", "GET", configMaps, "", 403, "in the namespace \\\"default\\\": you know why")
	r.expect("other", "GET", configMaps, "", 200) // by RBAC
	r.expect("other", "GET", "/api/v1/secrets", "", 403, "at the cluster scope: never heard of you")
	r.expect("broken", "GET", configMaps, "", 200) // by RBAC
	r.expect("broken", "GET", "/api/v1/secrets", "", 403, "the authorization webhook did not respond")
	r.expect("root", "GET", "/api/v1/secrets", "", 200)

	// Access reviews also call the webhook and report its errors.
	review := func(user string) string {
		return `{"spec":{"user":"` + user + `","resourceAttributes":{"verb":"get","resource":"secrets"}}}`
	}
	sar := reviewPath + "/subjectaccessreviews"
	r.expect("root", "POST", sar, review("wicked"), 201, `"status":{"allowed":false,"denied":true,"reason":"you know why"}`)
	r.expect("root", "POST", sar, review("broken"), 201, `"status":{"allowed":false,"evaluationError":"the authorization webhook did not respond"}`)
	r.expect("good", "POST", reviewPath+"/selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`, 201,
		`"incomplete":true`, `"evaluationError":"webhook authorizer does not support user rule resolution"`)

	// A request that waits for the webhook must not delay others.
	waiting := make(chan int, 1)
	go func() { waiting <- r.do("slow", "GET", configMaps, "").Code }()
	client.Eventually(t, func() error {
		if last, _ := m.lastRequest.Load().(string); !strings.Contains(last, `"slow"`) {
			return fmt.Errorf("the webhook was last asked %q", last)
		}
		return nil
	})
	r.expect("good", "GET", configMaps+"/y", "", 404)
	select {
	case code := <-waiting:
		t.Errorf("the slow one was answered %d", code)
	default:
	}
	close(m.unblock)
	if code := <-waiting; code != 200 {
		t.Errorf("the slow one was answered %d", code)
	}
}
