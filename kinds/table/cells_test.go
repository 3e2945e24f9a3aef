package table

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A cellCase is an object's JSON after its metadata, a column path, and the expected cell.
type cellCase struct{ rest, path, want string }

func checkCells(t *testing.T, cases []cellCase) {
	t.Helper()
	for _, c := range cases {
		o := object(c.rest)
		k := cellOf(&schema.Column{Path: c.path, Type: "string"})
		if got := string(k.append(nil, rowOf(o))); got != c.want {
			t.Errorf("%s of %s = %s, want %s", c.path, c.rest, got, c.want)
		}
	}
}

func TestFallbacks(t *testing.T) {
	checkCells(t, []cellCase{
		{``, "spec.handler|", `""`},
		{``, "func:text:spec.min|N/A", `"N/A"`},
		{`,"spec":{"min":null}`, "func:text:spec.min|N/A", `"N/A"`},
		{`,"spec":{"min":1}`, "func:text:spec.min|N/A", `"1"`},
		{`,"spec":{"min":"10%"}`, "func:text:spec.min|N/A", `"10%"`},
		{``, "func:parts:spec.a/spec.b|", `""`},
		{`,"spec":{"a":"x","b":"y"}`, "func:parts:spec.a/spec.b|", `"x/y"`},
		{``, "func:join:spec.tokens/audience|-", `"-"`},
		{`,"spec":{"tokens":[{"audience":"a"},{"audience":"b"}]}`, "func:join:spec.tokens/audience|-", `"a,b"`},
		{``, "func:truth:spec.suspend|-", `"-"`},
		{`,"spec":{"suspend":true}`, "func:truth:spec.suspend|-", `"True"`},
		{`,"spec":{"suspend":false}`, "func:truth:spec.suspend|-", `"False"`},
		{``, "func:since:status.last|<none>", `"\u003cnone\u003e"`},
		{`,"status":{"last":"2026-11-21T11:59:00Z"}`, "func:since:status.last|<none>", `"60s"`},
	})
	for _, kind := range []string{"boolean", "string"} {
		yes := cellOf(&schema.Column{Path: "spec.attach|true", Type: kind})
		if got := string(yes.append(nil, rowOf(&meta.Object{JSON: []byte(`{}`)}))); got != "true" {
			t.Errorf("a boolean in a column of type %s falls back to %s", kind, got)
		}
	}
}

func TestWorkloadCells(t *testing.T) {
	checkCells(t, []cellCase{
		{`,"spec":{"replicas":3},"status":{"readyReplicas":2}`, "func:ready", `"2/3"`},
		{`,"template":{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j"}]}}`, "func:containers:template", `"a,b"`},
		{`,"spec":{"template":{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j"}]}}}`, "func:images", `"i,j"`},
		{`,"spec":{"podSelector":{"matchExpressions":[{"key":"b","operator":"DoesNotExist"},{"key":"a","operator":"NotIn","values":["z","y"]}]}}`, "func:selector:spec.podSelector", `"a notin (y,z),!b"`},
		{`,"spec":{"podSelector":{}}`, "func:selector:spec.podSelector", `"\u003cnone\u003e"`},
		{`,"spec":{}`, "func:jobStatus", `"Running"`},
		{`,"status":{"conditions":[{"type":"Suspended","status":"True"}]}`, "func:jobStatus", `"Suspended"`},
		{`,"status":{"conditions":[{"type":"FailureTarget","status":"True"},{"type":"Failed","status":"True"}]}`, "func:jobStatus", `"Failed"`},
		{`,"status":{"conditions":[{"type":"FailureTarget","status":"True"}]}`, "func:jobStatus", `"FailureTarget"`},
		{`,"status":{"conditions":[{"type":"Complete","status":"True"}]}`, "func:jobStatus", `"Complete"`},
		{`,"spec":{"completions":2},"status":{"succeeded":1}`, "func:jobCompletions", `"1/2"`},
		{`,"spec":{"parallelism":3},"status":{"succeeded":1}`, "func:jobCompletions", `"1/1 of 3"`},
		{`,"spec":{"parallelism":1}`, "func:jobCompletions", `"0/1"`},
		{``, "func:jobDuration", `""`},
		{`,"status":{"startTime":"2026-11-21T11:58:00Z"}`, "func:jobDuration", `"2m"`},
		{`,"status":{"startTime":"2026-11-21T11:58:00Z","completionTime":"2026-11-21T11:58:07Z"}`, "func:jobDuration", `"7s"`},
		{`,"status":{"hard":{"pods":"5","limits.cpu":"2","cpu":"1"},"used":{"pods":"3"}}`, "func:quota:requests", `"cpu: 0/1, pods: 3/5"`},
		{`,"status":{"hard":{"pods":"5","limits.cpu":"2"},"used":{"limits.cpu":"1"}}`, "func:quota:limits", `"limits.cpu: 1/2"`},
	})
}

func TestMetricTargets(t *testing.T) {
	const cpu = `{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}`
	checkCells(t, []cellCase{
		{``, "func:metricTargets", `"\u003cnone\u003e"`},
		{`,"spec":{"metrics":[` + cpu + `]}`, "func:metricTargets", `"cpu: \u003cunknown\u003e/80%"`},
		{`,"spec":{"metrics":[` + cpu + `]},"status":{"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":10}}}]}`, "func:metricTargets", `"cpu: 10%/80%"`},
		{`,"spec":{"metrics":[{"type":"ContainerResource","containerResource":{"name":"memory","target":{"averageValue":"1Gi"}}}]},"status":{"currentMetrics":[{"containerResource":{"current":{"averageValue":"1Mi"}}}]}`, "func:metricTargets", `"memory: 1Mi/1Gi"`},
		{`,"spec":{"metrics":[{"type":"Pods","pods":{"target":{"averageValue":"10"}}}]}`, "func:metricTargets", `"\u003cunknown\u003e/10"`},
		{`,"spec":{"metrics":[{"type":"Object","object":{"target":{"value":"10"}}}]},"status":{"currentMetrics":[{"object":{"current":{"value":"3"}}}]}`, "func:metricTargets", `"3/10"`},
		{`,"spec":{"metrics":[{"type":"External","external":{"target":{"averageValue":"10"}}}]}`, "func:metricTargets", `"\u003cunknown\u003e/10 (avg)"`},
		{`,"spec":{"metrics":[` + cpu + `,` + cpu + `,` + cpu + `]}`, "func:metricTargets", `"cpu: \u003cunknown\u003e/80%, cpu: \u003cunknown\u003e/80% + 1 more..."`},
	})
}

func TestNetworkCells(t *testing.T) {
	checkCells(t, []cellCase{
		{`,"spec":{"clusterIPs":["10.0.0.1","fd00::1"]}`, "func:first:spec.clusterIPs", `"10.0.0.1"`},
		{`,"spec":{}`, "func:first:spec.clusterIPs", `"\u003cnone\u003e"`},
		{`,"spec":{"ports":[{"port":80,"protocol":"TCP"},{"port":53,"nodePort":30053,"protocol":"UDP"}]}`, "func:servicePorts", `"80/TCP,53:30053/UDP"`},
		{`,"spec":{"type":"ClusterIP"}`, "func:serviceExternalIPs", `"\u003cnone\u003e"`},
		{`,"spec":{"type":"LoadBalancer"}`, "func:serviceExternalIPs", `"\u003cpending\u003e"`},
		{`,"spec":{"type":"LoadBalancer","externalIPs":["1.1.1.1"]},"status":{"loadBalancer":{"ingress":[{"hostname":"b"},{"ip":"9.9.9.9"}]}}`, "func:serviceExternalIPs", `"9.9.9.9,b,1.1.1.1"`},
		{`,"spec":{"type":"ExternalName","externalName":"a.example.com"}`, "func:serviceExternalIPs", `"a.example.com"`},
		{``, "func:endpoints", `"\u003cnone\u003e"`},
		{`,"subsets":[{"addresses":[{"ip":"1.1.1.1"},{"ip":"::1"}],"ports":[{"port":80},{"port":81}]}]`, "func:endpoints", `"1.1.1.1:80,[::1]:80,1.1.1.1:81 + 1 more..."`},
		{`,"subsets":[{"addresses":[{"ip":"1.1.1.1"}]}]`, "func:endpoints", `"1.1.1.1"`},
		{`,"ports":[{"port":80},{"name":"a"},{}]`, "func:slicePorts", `"80,a,*"`},
		{``, "func:slicePorts", `"\u003cunset\u003e"`},
		{`,"endpoints":[{"addresses":["a","b"]},{"addresses":["c","d","e"]}]`, "func:sliceAddresses", `"a,b,c + 2 more..."`},
		{`,"spec":{"rules":[{"host":"a"},{}]}`, "func:ingressHosts", `"a"`},
		{`,"spec":{"rules":[{"host":"a"},{"host":"b"},{"host":"c"},{"host":"d"},{}]}`, "func:ingressHosts", `"a,b,c + 2 more..."`},
		{`,"spec":{}`, "func:ingressHosts", `"*"`},
		{`,"spec":{}`, "func:ingressPorts", `"80"`},
		{`,"spec":{"tls":[{}]}`, "func:ingressPorts", `"80, 443"`},
		{`,"spec":{"parameters":{"apiGroup":"g","kind":"K","name":"n"}}`, "func:classParameters", `"K.g/n"`},
		{`,"spec":{"parentRef":{"resource":"services","namespace":"a","name":"n"}}`, "func:addressParent", `"services/a/n"`},
		{`,"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"False"}]}`, "func:nodeStatus", `"NotReady,SchedulingDisabled"`},
	})
}

func TestStorageCells(t *testing.T) {
	checkCells(t, []cellCase{
		{`,"spec":{"accessModes":["ReadWriteMany","ReadWriteOnce","ReadWriteOncePod","ReadOnlyMany"]}`, "func:accessModes:spec.accessModes", `"RWO,ROX,RWX,RWOP"`},
		{`,"status":{"capacity":{"storage":"1Gi"}}`, "func:claimCapacity", `""`},
		{`,"spec":{"volumeName":"v"},"status":{"capacity":{"storage":"1Gi"}}`, "func:claimCapacity", `"1Gi"`},
		{`,"spec":{"volumeName":"v"}`, "func:claimCapacity", `"0"`},
		{`,"spec":{"volumeName":"v"},"status":{"accessModes":["ReadWriteOnce"]}`, "func:claimModes", `"RWO"`},
		{`,"spec":{"storageClassName":"fast"}`, "func:volumeClass", `"fast"`},
		{`,"status":{"phase":"Bound"}`, "func:phase:status.phase", `"Bound"`},
		{`,"status":{}`, "func:deviceState", `"pending"`},
		{`,"status":{"allocation":{},"reservedFor":[{}]}`, "func:deviceState", `"allocated,reserved"`},
	})
}

// TestAnnotations covers cells that depend on annotations, owners and deletion.
func TestAnnotations(t *testing.T) {
	for _, c := range []struct{ metadata, path, want string }{
		{`"annotations":{"storageclass.kubernetes.io/is-default-class":"true"}`, "func:defaultName:storageclass.platform.io/is-default-class storageclass.beta.platform.io/is-default-class", `"x (default)"`},
		{`"annotations":{"storageclass.beta.kubernetes.io/is-default-class":"true"}`, "func:defaultName:storageclass.platform.io/is-default-class storageclass.beta.platform.io/is-default-class", `"x (default)"`},
		{`"annotations":{"storageclass.kubernetes.io/is-default-class":"false"}`, "func:defaultName:storageclass.platform.io/is-default-class", `"x"`},
		{`"annotations":{"volume.beta.kubernetes.io/storage-class":"old"}`, "func:volumeClass", `"old"`},
		{`"ownerReferences":[{"kind":"A","name":"a"},{"apiVersion":"apps/v1","kind":"DaemonSet","name":"b","controller":true}]`, "func:controller", `"daemonset.apps/b"`},
		{`"labels":{}`, "func:controller", `"\u003cnone\u003e"`},
		{`"deletionTimestamp":"2026-11-21T11:55:00Z"`, "func:phase:status.phase", `"Terminating"`},
		{`"deletionTimestamp":"2026-11-21T11:55:00Z"`, "func:jobStatus", `"Terminating"`},
		{`"deletionTimestamp":"2026-11-21T11:55:00Z"`, "func:deviceState", `"deleted"`},
	} {
		o := &meta.Object{Key: meta.Key{Name: "x"}, JSON: []byte(`{"metadata":{"name":"x",` + c.metadata + `}}`)}
		o.Meta.Terminating = Metadata(o).Field("deletionTimestamp").Exists()
		k := cellOf(&schema.Column{Path: c.path, Type: "string"})
		if got := string(k.append(nil, rowOf(o))); got != c.want {
			t.Errorf("%s of %s = %s, want %s", c.path, c.metadata, got, c.want)
		}
	}
}

func TestAccessCells(t *testing.T) {
	const subjects = `,"subjects":[{"kind":"User","name":"u"},{"kind":"Group","name":"g"},{"kind":"User","name":"v"},{"kind":"ServiceAccount","namespace":"n","name":"s"}]`
	checkCells(t, []cellCase{
		{subjects, "func:subjects:User", `"u, v"`},
		{subjects, "func:subjects:ServiceAccount", `"n/s"`},
		{``, "func:subjects:Group", `""`},
		{``, "func:requestDuration", `"\u003cnone\u003e"`},
		{`,"spec":{"expirationSeconds":86400}`, "func:requestDuration", `"24h"`},
		{`,"status":{}`, "func:requestCondition", `"Pending"`},
		{`,"status":{"conditions":[{"type":"Approved"}],"certificate":"AA=="}`, "func:requestCondition", `"Approved,Issued"`},
		{`,"status":{"conditions":[{"type":"Approved"},{"type":"Denied"},{"type":"Failed"}]}`, "func:requestCondition", `"Denied,Failed"`},
		{`,"spec":{}`, "func:paramRef", `"\u003cunset\u003e"`},
		{`,"spec":{"paramRef":{"name":"n"}}`, "func:paramRef", `"*/n"`},
		{`,"spec":{"paramRef":{"name":"n","namespace":"s"}}`, "func:paramRef", `"s/n"`},
		{`,"spec":{"paramRef":{"selector":{"matchLabels":{"a":"b"}}}}`, "func:paramRef", `"a=b"`},
		{`,"spec":{}`, "func:apiService", `"Local"`},
		{`,"spec":{"service":{"namespace":"n","name":"s"}}`, "func:apiService", `"n/s"`},
		{``, "func:apiAvailable", `"Unknown"`},
		{`,"status":{"conditions":[{"type":"Available","status":"False","reason":"Gone"}]}`, "func:apiAvailable", `"False (Gone)"`},
		{`,"regarding":{"fieldPath":"spec"}`, "func:eventSubobject", `"spec"`},
		{`,"spec":{"resource":{"group":"","resource":"pods"}}`, "func:groupResource", `"pods"`},
		{`,"spec":{"resource":{"group":"apps","resource":"deployments"}}`, "func:groupResource", `"deployments.apps"`},
		{`,"status":{}`, "func:migrationStatus", `"Unknown"`},
		{`,"status":{"conditions":[{"type":"Running","status":"False"},{"type":"Succeeded","status":"True"},{"type":"Other","status":"True"}]}`, "func:migrationStatus", `"Succeeded"`},
	})
}

func TestComponentCells(t *testing.T) {
	const sick = `,"conditions":[{"type":"Healthy","status":"False","message":"m","error":"e"}]`
	checkCells(t, []cellCase{
		{``, "func:componentHealth", `"Unknown"`},
		{``, "func:componentCondition:error", `""`},
		{`,"conditions":[{"type":"Healthy","status":"True","message":"ok"}]`, "func:componentHealth", `"Healthy"`},
		{sick, "func:componentHealth", `"Unhealthy"`},
		{sick, "func:componentCondition:message", `"m"`},
		{sick, "func:componentCondition:error", `"e"`},
	})
}

// TestStoredColumns checks that a version without columns has those of the stored version.
func TestStoredColumns(t *testing.T) {
	stored := &schema.Kind{Columns: []schema.Column{{Name: "A", Path: "a"}}}
	if got := columnsOf(&schema.Kind{Stored: stored}); len(got) != 1 || got[0].Name != "A" {
		t.Errorf("got %v", got)
	}
	own := []schema.Column{{Name: "B", Path: "b"}}
	if got := columnsOf(&schema.Kind{Stored: stored, Columns: own}); got[0].Name != "B" {
		t.Errorf("got %v", got)
	}
}
