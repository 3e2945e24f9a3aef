package storage

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A quotaStep is one request of a table: a create of a resource, or a change of an object of it.
type quotaStep struct {
	resource, body string
	// change is "" for a create, else the rest of the path of a merge patch, or "delete name".
	change string
	want   string // the refusal
}

// TestUsage: what each kind of object uses, refuses and gives back.
func TestUsage(t *testing.T) {
	t.Parallel()
	n := open(t)
	const requests = `{"requests":{"cpu":"500m","memory":"64Mi"},"limits":{"cpu":"1","memory":"128Mi"}}`
	const claim = `"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"`
	for _, c := range []struct {
		name, quota string
		steps       []quotaStep
		used        string
	}{
		{"the number of Pods, and of those that have not ended", `"hard":{"pods":"2","count/pods":"3"}`, []quotaStep{
			{resource: "pods", body: podQuota("a", "")},
			{resource: "pods", body: podQuota("b", "")},
			{resource: "pods", body: podQuota("c", ""), want: "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"},
			{resource: "pods", change: "a/status", body: `{"status":{"phase":"Succeeded"}}`},
			{resource: "pods", body: podQuota("c", "")},
			{resource: "pods", change: "b/status", body: `{"status":{"phase":"Failed"}}`},
			{resource: "pods", body: podQuota("d", ""), want: "exceeded quota: q, requested: count/pods=1, used: count/pods=3, limited: count/pods=3"},
			{resource: "pods", change: "delete a"},
			{resource: "pods", body: podQuota("d", "")},
		}, "pods=2,count/pods=3"},
		{"requests and limits", `"hard":{"cpu":"1","requests.memory":"1Gi","limits.cpu":"2","limits.memory":"1Gi"}`, []quotaStep{
			{resource: "pods", body: podQuota("a", ""), want: "failed quota: q: must specify cpu for: c; limits.cpu for: c; limits.memory for: c; requests.memory for: c"},
			{resource: "pods", body: podQuota("a", `{"requests":{"cpu":"1","memory":"1Mi"}}`), want: "failed quota: q: must specify limits.cpu for: c; limits.memory for: c"},
			{resource: "pods", body: podQuota("a", requests)},
			{resource: "pods", body: podQuota("b", `{"requests":{"cpu":"600m","memory":"2Gi"},"limits":{"cpu":"600m","memory":"2Gi"}}`),
				want: "exceeded quota: q, requested: cpu=600m,limits.memory=2Gi,requests.memory=2Gi, used: cpu=500m,limits.memory=128Mi,requests.memory=64Mi, limited: cpu=1,limits.memory=1Gi,requests.memory=1Gi"},
			{resource: "pods", body: podQuota("b", requests)},
			{resource: "pods", change: "b/resize", body: `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"700m","memory":"64Mi"},"limits":{"cpu":"1","memory":"128Mi"}}}]}}`,
				want: "exceeded quota: q, requested: cpu=200m, used: cpu=1, limited: cpu=1"},
			{resource: "pods", change: "b/resize", body: `{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"1","memory":"128Mi"}}}]}}`},
			{resource: "pods", change: "a", body: `{"metadata":{"labels":{"a":"b"}}}`},
		}, "cpu=600m,requests.memory=128Mi,limits.cpu=2,limits.memory=256Mi"},
		{"what the containers of a Pod come to", `"hard":{"requests.cpu":"100","requests.ephemeral-storage":"1Gi","requests.example.com/gpu":"4","hugepages-2Mi":"1Gi"}`, []quotaStep{
			{resource: "pods", body: `{"metadata":{"name":"a"},"spec":{"initContainers":[
				{"name":"i","image":"i","resources":{"requests":{"cpu":"5"}}},
				{"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
				{"name":"j","image":"i","resources":{"requests":{"cpu":"7"}}}],
				"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2","memory":"1Mi","hugepages-2Mi":"4Mi","ephemeral-storage":"1Mi","example.com/gpu":"3"},"limits":{"hugepages-2Mi":"4Mi","example.com/gpu":"3"}}},
					{"name":"d","image":"i","resources":{"requests":{"cpu":"3"}}}]}}`},
			{resource: "pods", body: podQuota("b", `{"requests":{"cpu":"1","example.com/gpu":"2"},"limits":{"example.com/gpu":"2"}}`),
				want: "exceeded quota: q, requested: requests.example.com/gpu=2, used: requests.example.com/gpu=3, limited: requests.example.com/gpu=4"},
			{resource: "pods", body: `{"metadata":{"name":"b"},"spec":{"resources":{"requests":{"cpu":"10"}},"containers":[{"name":"c","image":"i"}]}}`},
		}, "requests.cpu=18,requests.ephemeral-storage=1Mi,requests.example.com/gpu=3,hugepages-2Mi=4Mi"},
		{"Services by type", `"hard":{"services":"3","services.loadbalancers":"1","services.nodeports":"2"}`, []quotaStep{
			{resource: "services", body: `{"metadata":{"name":"a"},"spec":{"ports":[{"port":1}]}}`},
			{resource: "services", change: "a", body: `{"spec":{"type":"LoadBalancer"}}`},
			{resource: "services", body: `{"metadata":{"name":"b"},"spec":{"ports":[{"port":1}]}}`},
			{resource: "services", change: "b", body: `{"spec":{"type":"LoadBalancer"}}`,
				want: "exceeded quota: q, requested: services.loadbalancers=1, used: services.loadbalancers=1, limited: services.loadbalancers=1"},
			{resource: "services", change: "b", body: `{"spec":{"type":"NodePort","ports":[{"port":1,"name":"x"},{"port":2,"name":"y"}]}}`,
				want: "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=2"},
			{resource: "services", change: "b", body: `{"spec":{"type":"NodePort"}}`},
			{resource: "services", change: "a", body: `{"spec":{"type":"ClusterIP"}}`},
		}, "services=2,services.loadbalancers=0,services.nodeports=1"},
		{"claims by class", `"hard":{"persistentvolumeclaims":"3","requests.storage":"10Gi","gold.storageclass.storage.platform.io/requests.storage":"5Gi","gold.storageclass.storage.platform.io/persistentvolumeclaims":"1"}`, []quotaStep{
			{resource: "persistentvolumeclaims", body: `{"metadata":{"name":"a"},"spec":{"storageClassName":"gold",` + claim + `3Gi"}}}}`},
			{resource: "persistentvolumeclaims", body: `{"metadata":{"name":"b"},"spec":{"storageClassName":"gold",` + claim + `3Gi"}}}}`,
				want: "exceeded quota: q, requested: gold.storageclass.storage.platform.io/persistentvolumeclaims=1,gold.storageclass.storage.platform.io/requests.storage=3Gi, " +
					"used: gold.storageclass.storage.platform.io/persistentvolumeclaims=1,gold.storageclass.storage.platform.io/requests.storage=3Gi, " +
					"limited: gold.storageclass.storage.platform.io/persistentvolumeclaims=1,gold.storageclass.storage.platform.io/requests.storage=5Gi"},
			{resource: "persistentvolumeclaims", body: `{"metadata":{"name":"b"},"spec":{` + claim + `3Gi"}}}}`},
			{resource: "persistentvolumeclaims", body: `{"metadata":{"name":"c"},"spec":{` + claim + `5Gi"}}}}`,
				want: "exceeded quota: q, requested: requests.storage=5Gi, used: requests.storage=6Gi, limited: requests.storage=10Gi"},
		}, "persistentvolumeclaims=2,requests.storage=6Gi,gold.storageclass.storage.platform.io/requests.storage=3Gi,gold.storageclass.storage.platform.io/persistentvolumeclaims=1"},
		{"any resource", `"hard":{"count/deployments.apps":"1","count/leases.coordination.platform.io":"1","replicationcontrollers":"1","resourcequotas":"1","secrets":"1"}`, []quotaStep{
			{resource: "coordination.platform.io/v1/leases", body: `{"metadata":{"name":"a"}}`},
			{resource: "coordination.platform.io/v1/leases", body: `{"metadata":{"name":"b"}}`,
				want: "exceeded quota: q, requested: count/leases.coordination.platform.io=1, used: count/leases.coordination.platform.io=1, limited: count/leases.coordination.platform.io=1"},
			{resource: "resourcequotas", body: `{"metadata":{"name":"r"},"spec":{"hard":{"pods":"1"}}}`,
				want: "exceeded quota: q, requested: resourcequotas=1, used: resourcequotas=1, limited: resourcequotas=1"},
			{resource: "coordination.platform.io/v1/leases", change: "delete a"},
		}, "count/deployments.apps=0,count/leases.coordination.platform.io=0,replicationcontrollers=0,resourcequotas=1,secrets=0"},
		{"claims of devices", `"hard":{"count/resourceclaims.resource.platform.io":"5","gpu.deviceclass.resource.platform.io/devices":"3"}`, []quotaStep{
			{resource: "resource.platform.io/v1/resourceclaims", body: `{"metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","count":2}}]}}}`},
			{resource: "resource.platform.io/v1/resourceclaims", body: `{"metadata":{"name":"b"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","count":2}}]}}}`,
				want: "exceeded quota: q, requested: gpu.deviceclass.resource.platform.io/devices=2, used: gpu.deviceclass.resource.platform.io/devices=2, limited: gpu.deviceclass.resource.platform.io/devices=3"},
		}, "count/resourceclaims.resource.platform.io=1,gpu.deviceclass.resource.platform.io/devices=2"},
		{"Pods that end by themselves", `"hard":{"pods":"1"},"scopes":["Terminating"]`, []quotaStep{
			{resource: "pods", body: podQuota("a", "")},
			{resource: "pods", body: `{"metadata":{"name":"b"},"spec":{"activeDeadlineSeconds":60,"containers":[{"name":"c","image":"i"}]}}`},
			{resource: "pods", change: "a", body: `{"spec":{"activeDeadlineSeconds":60}}`,
				want: "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"},
		}, "pods=1"},
		{"Pods that say nothing of cpu and memory", `"hard":{"pods":"1"},"scopes":["BestEffort","NotTerminating"]`, []quotaStep{
			{resource: "pods", body: podQuota("a", requests)},
			{resource: "pods", body: podQuota("b", "")},
			{resource: "pods", body: podQuota("c", ""), want: "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"},
			{resource: "pods", body: podQuota("d", requests)},
		}, "pods=1"},
		{"Pods that say something", `"hard":{"pods":"1"},"scopes":["NotBestEffort"]`, []quotaStep{
			{resource: "pods", body: podQuota("a", "")},
			{resource: "pods", body: podQuota("b", requests)},
			{resource: "pods", body: podQuota("c", requests), want: "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"},
		}, "pods=1"},
		{"Pods with an affinity to other namespaces", `"hard":{"pods":"0"},"scopes":["CrossNamespacePodAffinity"]`, []quotaStep{
			{resource: "pods", body: podQuota("a", "")},
			{resource: "pods", body: `{"metadata":{"name":"b"},"spec":{"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"k","namespaces":["x"]}}]}},"containers":[{"name":"c","image":"i"}]}}`,
				want: "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"},
		}, "pods=0"},
		{"Pods by priority class", `"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["platform-cluster-critical"]}]}`, []quotaStep{
			{resource: "pods", body: podQuota("a", "")},
		}, "pods=0"},
		{"claims by class of attributes", `"hard":{"persistentvolumeclaims":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass","operator":"NotIn","values":["slow"]}]}`, []quotaStep{
			{resource: "persistentvolumeclaims", body: `{"metadata":{"name":"a"},"spec":{"volumeAttributesClassName":"slow",` + claim + `3Gi"}}}}`},
			{resource: "persistentvolumeclaims", body: `{"metadata":{"name":"b"},"spec":{"volumeAttributesClassName":"fast",` + claim + `3Gi"}}}}`},
			{resource: "persistentvolumeclaims", body: `{"metadata":{"name":"c"},"spec":{` + claim + `3Gi"}}}}`,
				want: "exceeded quota: q, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1"},
		}, "persistentvolumeclaims=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := n
			n.T, n.name = t, strings.ToLower(strings.NewReplacer(" ", "-", ",", "").Replace(c.name))
			n.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"`+n.name+`"}}`)
			n.quota("q", c.quota)
			for i, s := range c.steps {
				var got string
				switch name, isDelete := strings.CutPrefix(s.change, "delete "); {
				case isDelete:
					n.Send(200, "DELETE", n.path(s.resource)+"/"+name+"?gracePeriodSeconds=0", client.JSON, "")
				case s.change != "":
					got = n.refusal(n.Patch(n.Ctx, n.path(s.resource)+"/"+s.change, []byte(s.body)))
				default:
					got = n.try(s.resource, s.body)
				}
				if got != s.want {
					t.Errorf("step %d: got  %s\nwant %s", i, got, s.want)
				}
			}
			n.used("q", c.used)
			recounted := strings.Replace(`{"spec":{`+c.quota+`}}`, `"hard":{`, `"hard":{"count/endpoints":"9",`, 1)
			if !strings.Contains(c.quota, "cope") { // with another name in it, all is counted anew
				n.Send(200, "PATCH", n.path("resourcequotas")+"/q", client.MergePatch, recounted)
				n.used("q", c.used+",count/endpoints=0")
			}
		})
	}
}

// TestCustomKinds: objects of custom kinds count by name, also if the quota is older than their definition,
// and after that has been deleted.
func TestCustomKinds(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.quota("q", `"hard":{"count/things.example.com":"2"}`)
	const definition = `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-platform-preserve-unknown-fields":true}}}]}}`
	const definitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	for range 2 {
		n.Send(201, "POST", definitions, client.JSON, definition)
		client.Eventually(t, func() error {
			a, err := n.Get(n.Ctx, n.path("example.com/v1/things"))
			if err == nil && a.Code != 200 {
				return &a
			}
			return err
		})
		thing := func(name string) string {
			return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"` + name + `"}}`
		}
		created := each(creators, func(i int) bool {
			return n.try("example.com/v1/things", thing(string(rune('a'+i%26))+"-"+string(rune('a'+i/26)))) == ""
		})
		if created != 2 {
			t.Errorf("%d are created, want 2", created)
		}
		n.used("q", "count/things.example.com=2")
		n.Send(200, "DELETE", definitions+"/things.example.com", client.JSON, "")
		n.used("q", "count/things.example.com=0")
		client.Eventually(t, func() error {
			a, err := n.Get(n.Ctx, definitions+"/things.example.com")
			if err == nil && a.Code != 404 {
				return &a
			}
			return err
		})
	}
}

// TestLifeOfQuotas: a quota counts what is there when it comes, also of others; it goes with its namespace;
// its status is what is used, whoever has written something else into it.
func TestLifeOfQuotas(t *testing.T) {
	t.Parallel()
	n := open(t)
	for _, name := range []string{"a", "b", "c"} {
		n.try("secrets", `{"metadata":{"name":"`+name+`"}}`)
	}
	n.quota("q", `"hard":{"secrets":"2"}`)
	if why := n.try("secrets", `{"metadata":{"name":"d"}}`); why != "exceeded quota: q, requested: secrets=1, used: secrets=3, limited: secrets=2" {
		t.Errorf("got %s", why)
	}
	n.Send(200, "PATCH", n.path("secrets")+"/a", client.MergePatch, `{"data":{"x":"eA=="}}`)
	n.used("q", "secrets=3")
	n.Send(200, "PATCH", n.path("resourcequotas")+"/q/status", client.MergePatch, `{"status":{"used":{"secrets":"1","pods":"4"},"hard":{"secrets":"70"}}}`)
	n.used("q", "secrets=3")
	n.Send(200, "PATCH", n.path("resourcequotas")+"/q", client.MergePatch, `{"spec":{"hard":{"secrets":null,"configmaps":"1"}}}`)
	if why := n.try("secrets", `{"metadata":{"name":"d"}}`); why != "" {
		t.Errorf("a limit that is gone refuses: %s", why)
	}
	n.used("q", "configmaps=0")
	n.Send(200, "DELETE", n.path("resourcequotas")+"/q", client.JSON, "")
	for _, name := range []string{"x", "y"} {
		if why := n.try("configmaps", configMap(name)); why != "" {
			t.Errorf("a quota that is gone refuses: %s", why)
		}
	}
	n.quota("q", `"hard":{"configmaps":"2"}`)
	n.Send(200, "DELETE", "/api/v1/namespaces/n", client.JSON, "")
	client.Eventually(t, func() error {
		a, err := n.Do(n.Ctx, "POST", "/api/v1/namespaces", client.JSON, []byte(`{"metadata":{"name":"n"}}`))
		if err == nil && a.Code != 201 {
			return &a
		}
		return err
	})
	for _, name := range []string{"x", "y", "z"} {
		if why := n.try("configmaps", configMap(name)); why != "" {
			t.Errorf("the quota of a former namespace refuses: %s", why)
		}
	}
}

// TestLostPods: a Pod that should have ended does not count any more, but as an object.
func TestLostPods(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.quota("q", `"hard":{"pods":"1","count/pods":"2","requests.cpu":"1"}`)
	const lost = `{"metadata":{"name":"lost","finalizers":["example.com/f"]},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`
	if why := n.try("pods", lost); why != "" {
		t.Fatal(why)
	}
	n.Send(200, "DELETE", n.path("pods")+"/lost", client.JSON, `{"gracePeriodSeconds":0}`)
	n.used("q", "pods=0,count/pods=1,requests.cpu=0")
	n.quota("later", `"hard":{"pods":"5","count/pods":"5"}`)
	n.used("later", "pods=0,count/pods=1")
	if why := n.try("pods", podQuota("p", `{"requests":{"cpu":"1"}}`)); why != "" {
		t.Error(why)
	}
	n.Send(200, "PATCH", n.path("pods")+"/lost", client.MergePatch, `{"metadata":{"finalizers":null}}`)
	n.used("q", "pods=1,count/pods=1,requests.cpu=1")
	n.used("later", "pods=1,count/pods=1")
}

// TestSwitchedOff: without the plugin nothing is refused; what is used is told nonetheless.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	n := openAs(t, func(c *daemon.Config) { c.Admission.Disable = []string{"ResourceQuota"} })
	n.quota("q", `"hard":{"configmaps":"1"}`)
	for _, name := range []string{"a", "b"} {
		if why := n.try("configmaps", configMap(name)); why != "" {
			t.Error(why)
		}
	}
	n.used("q", "configmaps=2")
}
