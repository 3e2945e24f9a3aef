package api

import (
	"net/http"
	"testing"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/client"
)

// statuses maps kinds to the status that the test writes. The default status is a condition.
var statuses = map[string]string{
	"CSINode":                 `{"storageHealth":[{"name":"d.example.com"}]}`,
	"CronJob":                 `{"lastScheduleTime":"2026-01-01T00:00:00Z"}`,
	"HorizontalPodAutoscaler": `{"currentReplicas":2,"desiredReplicas":2}`,
	"Ingress":                 `{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}`,
	"Job":                     `{"active":1}`,
	"Namespace":               `{"conditions":[{"type":"Sound","status":"True"}]}`,
	"PersistentVolume":        `{"phase":"Released"}`,
	"PodCertificateRequest":   `{"conditions":[{"type":"Denied","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`,
	"PodDisruptionBudget":     `{"currentHealthy":1,"desiredHealthy":1,"expectedPods":1,"disruptionsAllowed":0}`,
	"ResourceClaim":           `{"allocation":{"devices":{"results":[{"request":"r","driver":"d.example.com","pool":"p","device":"e"}]}}}`,
	"ResourceQuota":           `{"hard":{"pods":"9"},"used":{"pods":"1"}}`,
	"VolumeAttachment":        `{"attached":true}`,
}

const condition = `{"conditions":[{"type":"Sound","status":"True","reason":"Checked","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`

// TestStatusApart checks, for each kind with a status, that writing the object does not change the
// status, and vice versa.
func TestStatusApart(t *testing.T) { eachKind(t, 20, hasStatus, checkStatusSeparate) }

func checkStatusSeparate(c caller, k *schema.Kind, o map[string]any) {
	text := statuses[k.Kind]
	if text == "" {
		text = condition
	}
	status := []byte(`{"status":` + text + `}`)
	path := collection(k)
	one := path + "/" + o["metadata"].(map[string]any)["name"].(string)
	c.do(http.MethodPost, path, nil, mergeCatalog(o, map[string]any{"status": nil}), 201)
	fresh := c.do(http.MethodGet, one, nil, nil, 200) // includes the status that the server sets on a CRD
	rest, zero := splitStatus(fresh)
	c.do(http.MethodPatch, one, nil, status, 200)
	if _, now := splitStatus(c.do(http.MethodGet, one, nil, nil, 200)); now != zero {
		c.Errorf("a write of the object wrote the status: %s, was %s", now, zero)
	}
	c.do(http.MethodPatch, one+"/status", nil, status, 200)
	_, written := splitStatus(c.do(http.MethodGet, one, nil, nil, 200))
	if written == zero {
		c.Errorf("a write of the status left it %s", written)
	}
	whole := c.do(http.MethodGet, one, nil, nil, 200)
	for name := range whole {
		if name != "apiVersion" && name != "kind" && name != "metadata" && name != "status" {
			delete(whole, name)
		}
	}
	if now, _ := splitStatus(c.do(http.MethodPut, one+"/status", nil, whole, 200)); now != rest {
		c.Errorf("a write of the status wrote the rest: %s, was %s", now, rest)
	}
	delete(fresh, "status")
	delete(fresh.Metadata(), "resourceVersion")
	fresh.Metadata()["resourceVersion"] = whole.Metadata()["resourceVersion"]
	if _, now := splitStatus(c.do(http.MethodPut, one, nil, fresh, 200)); now != written {
		c.Errorf("a write of the object wrote the status: %s, was %s", now, written)
	}
}

func splitStatus(o client.Object) (rest, status string) {
	return compact(mergeCatalog(o, map[string]any{"metadata": nil, "status": nil})), compact(o["status"])
}
