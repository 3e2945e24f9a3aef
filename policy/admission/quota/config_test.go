package quota

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func parse(t *testing.T, text string) tree.Tree {
	t.Helper()
	var v tree.Tree
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLimitedResources(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	const critical = `{"scopeName":"PriorityClass","operator":"In","values":["critical"]}`
	config := NewConfig(must.Get(kinds.DecodeConfig("ResourceQuota", []byte(`{"apiVersion":"apiserver.config.platform.io/v1","kind":"ResourceQuotaConfiguration","limitedResources":[
		{"resource":"persistentvolumeclaims","matchContains":["gold.storageclass.storage.platform.io/requests.storage"]},
		{"resource":"pods","matchScopes":[`+critical+`]}]}`)))(t))
	const claim = `{"spec":{"storageClassName":"gold","resources":{"requests":{"storage":"1Gi"}}}}`
	const urgent = `{"spec":{"priorityClassName":"critical"}}`
	for _, c := range []struct {
		name, resource, quota, old, new, want string
	}{
		{"no quota", "persistentvolumeclaims", ``, ``, claim, "insufficient quota to consume: gold.storageclass.storage.platform.io/requests.storage"},
		{"a quota of something else", "persistentvolumeclaims", `{"hard":{"pods":"1"}}`, ``, claim, "insufficient quota to consume: gold.storageclass.storage.platform.io/requests.storage"},
		{"a quota of it", "persistentvolumeclaims", `{"hard":{"gold.storageclass.storage.platform.io/requests.storage":"1Gi"}}`, ``, claim, ""},
		{"another class", "persistentvolumeclaims", ``, ``, `{"spec":{"resources":{"requests":{"storage":"1Gi"}}}}`, ""},
		{"no more than before", "persistentvolumeclaims", ``, claim, claim, ""},
		{"no scope", "pods", `{"hard":{"pods":"1"}}`, ``, urgent, "insufficient quota to match these scopes: [{PriorityClass In [critical]}]"},
		{"the scope", "pods", `{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[` + critical + `]}}`, ``, urgent, ""},
		{"out of scope", "pods", ``, ``, `{"spec":{}}`, ""},
		{"of another resource", "secrets", ``, ``, `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := newCluster(t)
			if c.quota != "" {
				cluster.setSpec("q", parse(t, c.quota))
			}
			resource := meta.GroupResource{Resource: c.resource}
			p := &proposed{
				namespace: "n", resource: resource, evaluator: cluster.ledger.evaluators.of(resource), new: parse(t, c.new),
				refusable: true, limits: config.limited,
			}
			if c.old != "" {
				p.old = parse(t, c.old)
			}
			got := ""
			if _, err := cluster.ledger.reserve(p); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	const old = `"apiVersion":"resourcequota.admission.platform.io/v1beta1","kind":"Configuration"`
	for text, want := range map[string]string{
		`{"kind":"WebhookAdmission"}`:           `no kind "WebhookAdmission" is registered`,
		`{` + old + `}`:                         "",
		`{` + old + `,"limits":[]}`:             `unknown field "limits"`,
		`{` + old + `,"limitedResources":[{}]}`: "limitedResources[0].resource: Required value",
		`{` + old + `,"limitedResources":[{"resource":"pods","matchScopes":[{"scopeName":"PriorityClass","operator":"Is"}]}]}`: `limitedResources[0].matchScopes[0].operator: Unsupported value: "Is"`,
	} {
		if _, err := kinds.DecodeConfig("ResourceQuota", []byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if c := NewConfig(nil); len(c.limited) > 0 {
		t.Errorf("no configuration: %v", c)
	}
}

func TestResizedPods(t *testing.T) {
	pod := func(condition string) tree.Tree {
		return parse(t, `{"spec":{"overhead":{"cpu":"10m"},"containers":[{"name":"c","resources":{"requests":{"cpu":"3"},"limits":{"cpu":"3"}}}]},
			"status":{"conditions":[`+condition+`],"containerStatuses":[{"name":"c","allocatedResources":{"cpu":"2"},"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]}}`)
	}
	e := newEvaluators(meta.Platform).of(pods)
	for condition, want := range map[string]string{
		``: "count/pods=1,cpu=3010m,limits.cpu=3010m,pods=1,requests.cpu=3010m",
		`{"type":"PodResizePending","reason":"Deferred"}`:   "count/pods=1,cpu=3010m,limits.cpu=3010m,pods=1,requests.cpu=3010m",
		`{"type":"PodResizePending","reason":"Infeasible"}`: "count/pods=1,cpu=2010m,limits.cpu=1010m,pods=1,requests.cpu=2010m",
	} {
		if got := e.used(pod(condition)).String(); got != want {
			t.Errorf("%s: got  %s\nwant %s", condition, got, want)
		}
	}
}
