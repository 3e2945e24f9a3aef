package extension

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestStoredVersionChangesWhileAdmissionWaits changes the storage version while writes wait for an
// admission webhook. The writes succeed or conflict, and all objects stay readable in every
// version.
func TestStoredVersionChangesWhileAdmissionWaits(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	asked, gate := make(chan struct{}, 100), make(chan struct{})
	admission := startConversion(t)
	admission.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var r struct{ Request conversionObject }
		_ = json.NewDecoder(q.Body).Decode(&r)
		asked <- struct{}{}
		<-gate
		fmt.Fprintf(w, `{"apiVersion":"admission.platform.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":true}}`, r.Request["uid"])
	})
	s.Send(201, "POST", "/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations", client.JSON, `{"apiVersion":"admissionregistration.platform.io/v1","kind":"ValidatingWebhookConfiguration",
		"metadata":{"name":"m"},"webhooks":[{"name":"m.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":`+admission.clientConfig()+`,
		"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["example.com"],"apiVersions":["*"],"resources":["routes"]}]}]}`)
	answers := make(chan client.Answer, 2)
	for _, of := range [][2]string{{"PATCH", routesV1 + "/a"}, {"POST", routesV1}} {
		go func() {
			kind, body := typeMerge, `{"spec":{"host":"next"}}`
			if of[0] == "POST" {
				kind, body = client.JSON, v1Conversion("b", "new", "81")
			}
			a, _ := s.Do(s.Ctx, of[0], of[1], kind, []byte(body))
			answers <- a
		}()
		<-asked
	}
	s.redefine(200, routes{clientConfig: h.clientConfig(), stored: "v2"})
	close(gate)
	for range 2 {
		if a := <-answers; a.Code != 200 && a.Code != 201 && a.Code != 409 {
			t.Error(a)
		}
	}
	s.Send(200, "PATCH", routesV2+"/a", typeMerge, `{"spec":{"hostPort":"last:1"}}`)
	s.want(s.Send(200, "GET", routesV1+"/a", "", "").Object(), `"host":"last"`)
	for _, path := range []string{routesV1, routesV2} {
		all := s.Send(200, "GET", path, "", "")
		items, _ := all.Object()["items"].([]any)
		if len(items) == 0 {
			t.Errorf("%s: %s", path, all)
		}
	}
	s.want(s.Send(200, "GET", routesV2+"/b", "", "").Object(), `"hostPort":"new:81"`)
}
