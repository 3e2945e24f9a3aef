package policy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const classes = "/apis/scheduling.platform.io/v1/priorityclasses"

// TestPriority: classes resolve from the moment their write is answered, and those of the system are there.
func TestPriority(t *testing.T) {
	t.Parallel()
	for _, profile := range client.Profiles {
		c := openPodPlugins(t, profile, nil)
		for name, value := range map[string]string{"system-cluster-critical": "2000000000", "system-node-critical": "2000001000"} {
			c.shows(string(c.Send(200, http.MethodGet, c.named(classes)+"/"+name, "", "").Body), map[string]string{"value": value, "preemptionPolicy": `"PreemptLowerPriority"`})
			c.Send(403, http.MethodDelete, c.named(classes)+"/"+name, "", "")
		}
		c.shows(c.post(201, pods, podOf("system", `"priorityClassName":"system-node-critical"`)), map[string]string{"spec|priority": "2000001000"})
		c.shows(c.post(201, pods, podOf("plain", "")), map[string]string{
			"spec|priority": "0", "spec|preemptionPolicy": `"PreemptLowerPriority"`, "spec|priorityClassName": "absent"})
		c.refuses(pods, podOf("x", `"priorityClassName":"high"`), "no PriorityClass with name high was found")
		c.post(201, classes, `{"metadata":{"name":"high"},"value":10,"preemptionPolicy":"Never"}`)
		c.shows(c.post(201, pods, podOf("high", `"priorityClassName":"high"`)), map[string]string{"spec|priority": "10", "spec|preemptionPolicy": `"Never"`})
		c.refuses(pods, podOf("x", `"priorityClassName":"high","priority":11`), "the integer value of priority (11) must not be provided in pod spec")
		c.post(201, classes, `{"metadata":{"name":"usual"},"value":5,"globalDefault":true}`)
		c.shows(c.post(201, pods, podOf("usual", "")), map[string]string{"spec|priority": "5", "spec|priorityClassName": `"usual"`})
		c.refuses(classes, `{"metadata":{"name":"second"},"value":6,"globalDefault":true}`, "PriorityClass usual is already marked as default. Only one default can exist")
		// An update that does not name the priority keeps it.
		whole := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"high","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i2"}],"priorityClassName":"high","serviceAccountName":"default","automountServiceAccountToken":false}}`
		c.post(201, "/api/v1/namespaces/platform-public/pods", strings.Replace(whole, "i2", "i", 1))
		c.shows(string(c.Send(200, http.MethodPut, c.named("/api/v1/namespaces/platform-public/pods/high"), client.JSON, whole).Body),
			map[string]string{"spec|priority": "10", "spec|containers|0|image": `"i2"`})
	}
}

// TestLimitRanger: a range counts from the moment its write is answered, and is stored without a warning.
func TestLimitRanger(t *testing.T) {
	t.Parallel()
	for _, profile := range client.Profiles {
		c := openPodPlugins(t, profile, nil)
		const ranges = "/api/v1/namespaces/default/limitranges"
		a := c.Send(201, http.MethodPost, ranges, client.JSON, `{"metadata":{"name":"l"},"spec":{"limits":[
			{"type":"Container","default":{"cpu":"1","memory":"1Gi"},"max":{"cpu":"2"}},{"type":"PersistentVolumeClaim","max":{"storage":"1Gi"}}]}}`)
		if a.Header.Get("Warning") != "" {
			t.Errorf("a limit range warns: %q", a.Header.Get("Warning"))
		}
		c.shows(c.post(201, pods, podOf("p", "")), map[string]string{
			"spec|containers|0|resources": `{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}`, "status|qosClass": `"Guaranteed"`,
			"metadata|annotations|platform.io/limit-ranger": `"LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c"`})
		c.refuses(pods, `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"3"}}}]}}`,
			`pods "x" is forbidden: maximum cpu usage per Container is 2, but limit is 3`)
		if a := c.Send(403, http.MethodPatch, pods+"/p/resize", client.MergePatch, `{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"4","memory":"1Gi"},"requests":{"cpu":"4","memory":"1Gi"}}}]}}`); !strings.Contains(string(a.Body), "maximum cpu usage per Container is 2, but limit is 4") {
			t.Errorf("a resize: %s", a.Body)
		}
		c.refuses("/api/v1/namespaces/default/persistentvolumeclaims", `{"metadata":{"name":"x"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}}}`,
			"maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi")
		c.Send(200, http.MethodDelete, ranges+"/l", "", "")
		c.shows(c.post(201, pods, podOf("free", "")), map[string]string{"spec|containers|0|resources": "{}", "status|qosClass": `"BestEffort"`})
	}
}

// TestRuntimeClass: a class counts from the moment its write is answered.
func TestRuntimeClass(t *testing.T) {
	t.Parallel()
	for _, profile := range client.Profiles {
		c := openPodPlugins(t, profile, nil)
		c.refuses(pods, podOf("x", `"runtimeClassName":"r"`), `pod rejected: RuntimeClass "r" not found`)
		c.post(201, "/apis/node.platform.io/v1/runtimeclasses", `{"metadata":{"name":"r"},"handler":"h","overhead":{"podFixed":{"cpu":"100m"}},"scheduling":{"nodeSelector":{"a":"b"}}}`)
		c.shows(c.post(201, pods, podOf("p", `"runtimeClassName":"r"`)), map[string]string{"spec|overhead": `{"cpu":"100m"}`, "spec|nodeSelector": `{"a":"b"}`})
		c.refuses(pods, podOf("x", `"runtimeClassName":"r","nodeSelector":{"a":"c"}`), "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c")
	}
}

// TestBinding: a Pod that is put on a node gets the labels of its zone and region.
func TestBinding(t *testing.T) {
	t.Parallel()
	for _, profile := range client.Profiles {
		c := openPodPlugins(t, profile, nil)
		c.post(201, "/api/v1/nodes", `{"metadata":{"name":"n","labels":{"topology.platform.io/zone":"z","topology.platform.io/region":"r","other":"o"}}}`)
		want := map[string]string{"metadata|labels": `{"topology.platform.io/region":"r","topology.platform.io/zone":"z"}`, "spec|nodeName": `"n"`}
		c.post(201, pods, podOf("p", ""))
		c.post(201, pods+"/p/binding", `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`)
		c.shows(string(c.Send(200, http.MethodGet, pods+"/p", "", "").Body), want)
		c.shows(c.post(201, pods, podOf("q", `"nodeName":"n"`)), want)
	}
}

// TestTerminatingNamespace: what is created of an object is as new as the object in a namespace that is being deleted.
func TestTerminatingNamespace(t *testing.T) {
	t.Parallel()
	for _, profile := range client.Profiles {
		c := openPodPlugins(t, profile, nil)
		const namespace, kept = "/api/v1/namespaces/ending", `"finalizers":["example.com/kept"]`
		c.post(201, "/api/v1/namespaces", `{"metadata":{"name":"ending"}}`)
		c.post(201, namespace+"/serviceaccounts", `{"metadata":{"name":"a",`+kept+`}}`)
		c.post(201, namespace+"/pods", `{"metadata":{"name":"p",`+kept+`},"spec":{"serviceAccountName":"a","containers":[{"name":"c","image":"i"}]}}`)
		c.Send(200, http.MethodDelete, namespace, "", "")
		for path, body := range map[string]string{
			"/configmaps":                 `{"metadata":{"name":"c"}}`,
			"/pods/p/eviction":            `{"metadata":{"name":"p"}}`,
			"/pods/p/eviction?dryRun=All": `{"metadata":{"name":"p"}}`,
			"/serviceaccounts/a/token":    `{"spec":{}}`,
		} {
			c.refuses(namespace+path, body, "unable to create new content in namespace ending because it is being terminated")
		}
	}
}

// TestTolerations: what Pods stand by default is a setting.
func TestTolerations(t *testing.T) {
	t.Parallel()
	for _, profile := range client.Profiles {
		c := openPodPlugins(t, profile, func(c *daemon.Config) {
			c.Admission.DefaultNotReadyTolerationSeconds, c.Admission.DefaultUnreachableTolerationSeconds = 10, 20
		})
		c.shows(c.post(201, pods, podOf("p", "")), map[string]string{"spec|tolerations": `[{"effect":"NoExecute","key":"node.platform.io/not-ready","operator":"Exists","tolerationSeconds":10},` +
			`{"effect":"NoExecute","key":"node.platform.io/unreachable","operator":"Exists","tolerationSeconds":20}]`})
	}
}
