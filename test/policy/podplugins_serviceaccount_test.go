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

const podPluginAccounts = "/api/v1/namespaces/default/serviceaccounts"

// TestServiceAccount: every way to make a Pod gives it its account and a token.
func TestServiceAccount(t *testing.T) {
	t.Parallel()
	for _, profile := range client.Profiles {
		c := openPodPlugins(t, profile, nil)
		token := map[string]string{
			"spec|serviceAccountName": `"default"`, "spec|serviceAccount": `"default"`,
			"spec|containers|0|volumeMounts|0|mountPath":                                       `"/var/run/secrets/platform.io/serviceaccount"`,
			"spec|containers|0|volumeMounts|0|readOnly":                                        `true`,
			"spec|volumes|0|projected|defaultMode":                                             `420`,
			"spec|volumes|0|projected|sources|0":                                               `{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}`,
			"spec|volumes|0|projected|sources|1|configMap|name":                                `"platform-root-ca.crt"`,
			"spec|volumes|0|projected|sources|2|downwardAPI|items|0|fieldRef":                  `{"apiVersion":"v1","fieldPath":"metadata.namespace"}`,
			"spec|containers|0|volumeMounts|1":                                                 `absent`,
			"metadata|managedFields|0|fieldsV1|f:spec|f:serviceAccountName":                    `absent`,
			"metadata|managedFields|0|fieldsV1|f:spec|f:containers|k:{\"name\":\"c\"}|f:image": `{}`,
		}
		c.shows(c.post(201, pods, podOf("created", "")), token)
		c.shows(c.post(201, pods, strings.Replace(podOf("g-", ""), `"name":"g-"`, `"generateName":"g-"`, 1)), token)
		applied := c.Send(201, http.MethodPatch, pods+"/applied?fieldManager=m", "application/apply-patch+yaml", podOf("applied", ""))
		c.shows(string(applied.Body), token)
		if !strings.Contains(string(applied.Body), c.named(`"name":"platform-api-access-`)) {
			t.Errorf("%s: the volume has another name: %s", profile, applied.Body)
		}
		// An apply of the same again changes nothing.
		again := c.Send(200, http.MethodPatch, pods+"/applied?fieldManager=m", "application/apply-patch+yaml", podOf("applied", ""))
		if string(again.Body) != string(applied.Body) {
			t.Errorf("applied again it became %s", again.Body)
		}

		c.refuses(pods, podOf("x", `"serviceAccountName":"robot"`), `error looking up service account default/robot: serviceaccount "robot" not found`)
		c.post(201, podPluginAccounts, `{"metadata":{"name":"robot"},"automountServiceAccountToken":false,"imagePullSecrets":[{"name":"pull"}]}`)
		c.shows(c.post(201, pods, podOf("robot", `"serviceAccountName":"robot"`)), map[string]string{"spec|volumes": "absent", "spec|imagePullSecrets": `[{"name":"pull"}]`})
		c.shows(c.post(201, pods, podOf("wants", `"serviceAccountName":"robot","automountServiceAccountToken":true,"imagePullSecrets":[{"name":"own"}]`)),
			map[string]string{"spec|volumes|0|projected|defaultMode": "420", "spec|imagePullSecrets": `[{"name":"own"}]`})
		c.post(201, podPluginAccounts, `{"metadata":{"name":"limited","annotations":{"platform.io/enforce-mountable-secrets":"true"}},"secrets":[{"name":"mine"}]}`)
		c.refuses(pods, podOf("x", `"serviceAccountName":"limited","volumes":[{"name":"v","secret":{"secretName":"other"}}]`),
			`volume with secret.secretName="other" is not allowed because service account limited does not reference that secret`)
		c.post(201, pods, podOf("limited", `"serviceAccountName":"limited","volumes":[{"name":"v","secret":{"secretName":"mine"}}]`))
		c.Send(200, http.MethodDelete, podPluginAccounts+"/robot", "", "")
		c.refuses(pods, podOf("x", `"serviceAccountName":"robot"`), `serviceaccount "robot" not found`)
		c.refuses(pods, c.named(`{"metadata":{"name":"m","annotations":{"platform.io/config.mirror":"h"}},"spec":{"serviceAccountName":"default","containers":[{"name":"c","image":"i"}]}}`),
			"a mirror pod may not reference service accounts")
	}
}

// TestNewNamespace: a Pod that is made right after its namespace finds the account that a controller makes.
func TestNewNamespace(t *testing.T) {
	t.Parallel()
	c := openPodPlugins(t, "platform", nil)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			name := fmt.Sprintf("n%d", i)
			for _, step := range [][2]string{
				{"/api/v1/namespaces", `{"metadata":{"name":"` + name + `"}}`}, {"/api/v1/namespaces/" + name + "/pods", podOf("p", "")},
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

// TestAccountThatDoesNotCome: who waits for an account holds up nobody, and is refused in the end.
func TestAccountThatDoesNotCome(t *testing.T) {
	t.Parallel()
	c := openPodPlugins(t, "platform", func(c *daemon.Config) { c.Controllers = "*,-serviceaccount-controller" })
	c.namespace("n")
	const in = "/api/v1/namespaces/n/"
	c.refuses(in+"pods", podOf("p", ""), `error looking up service account n/default: serviceaccount "default" not found`)
	c.refuses(in+"pods", podOf("p", `"serviceAccountName":"other"`), `serviceaccount "other" not found`)
	client.Eventually(t, func() error { // on a busy machine the account may come too late
		done := make(chan string, 1)
		go func() {
			a, err := c.Do(c.Ctx, http.MethodPost, in+"pods", client.JSON, []byte(podOf("p", "")))
			done <- fmt.Sprint(a.Code, err)
		}()
		client.Poll(func() bool { return c.creating(t) || len(done) > 0 })
		c.post(201, in+"serviceaccounts", `{"metadata":{"name":"default"}}`)
		got := <-done
		if got == "201 <nil>" {
			return nil
		}
		c.Send(200, http.MethodDelete, in+"serviceaccounts/default", "", "")
		return fmt.Errorf("with the account that has come: %s", got)
	})
}

// creating reports whether the server is answering a request that writes.
func (c podPluginCluster) creating(t *testing.T) bool {
	t.Helper()
	a, err := c.Get(c.Ctx, "/metrics")
	if err != nil || a.Code != 200 {
		t.Fatal(a, err)
	}
	return strings.Contains(string(a.Body), "apiserver_current_inflight_requests{request_kind=\"mutating\"} 1")
}
