package policy

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const podText = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// TestNewNamespace checks that a Pod can be created right after its namespace, before a controller
// has created the default service account.
func TestNewNamespace(t *testing.T) {
	t.Parallel()
	c := client.Open(t, nil)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			name := fmt.Sprintf("n%d", i)
			for _, step := range [][2]string{
				{"/api/v1/namespaces", `{"metadata":{"name":"` + name + `"}}`}, {"/api/v1/namespaces/" + name + "/pods", podText},
			} {
				a, err := c.Do(c.Ctx, http.MethodPost, step[0], client.JSON, []byte(step[1]))
				if err != nil || a.Code != 201 {
					t.Errorf("%s: %v %v", step[0], a, err)
				}
			}
		})
	}
	all.Wait()
}

// TestAccountThatDoesNotCome checks that a Pod waits for a missing service account. It is rejected
// after a timeout, or admitted once the account is created. Other requests are not delayed.
func TestAccountThatDoesNotCome(t *testing.T) {
	t.Parallel()
	c := client.Open(t, func(c *daemon.Config) { c.Controllers = "*,-serviceaccount-controller" })
	c.Send(201, http.MethodPost, "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"n"}}`)
	const in = "/api/v1/namespaces/n/"
	for pod, account := range map[string]string{podText: "default", strings.Replace(podText, `"spec":{`, `"spec":{"serviceAccountName":"other",`, 1): "other"} {
		if a := c.Send(403, http.MethodPost, in+"pods", client.JSON, pod); !strings.Contains(a.String(), "error looking up service account n/"+account) {
			t.Error(a)
		}
	}
	client.Eventually(t, func() error { // on a busy machine the account may be created too late
		done := make(chan string, 1)
		go func() {
			a, err := c.Do(c.Ctx, http.MethodPost, in+"pods", client.JSON, []byte(podText))
			done <- fmt.Sprint(a.Code, err)
		}()
		client.Poll(func() bool { return isCreating(c) || len(done) > 0 })
		c.Send(201, http.MethodPost, in+"serviceaccounts", client.JSON, `{"metadata":{"name":"default"}}`)
		got := <-done
		if got == "201 <nil>" {
			return nil
		}
		c.Send(200, http.MethodDelete, in+"serviceaccounts/default", "", "")
		return fmt.Errorf("with the account that has come: %s", got)
	})
}

// isCreating reports whether the server is handling exactly one mutating request.
func isCreating(c client.Session) bool {
	c.T.Helper()
	return strings.Contains(string(c.Send(200, http.MethodGet, "/metrics", "", "").Body), "apiserver_current_inflight_requests{request_kind=\"mutating\"} 1")
}
