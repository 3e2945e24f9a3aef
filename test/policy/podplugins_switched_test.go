package policy

import (
	"net/http"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestSwitchedOn: plugins that operators switch on.
func TestSwitchedOn(t *testing.T) {
	t.Parallel()
	for _, profile := range client.Profiles {
		c := openPodPlugins(t, profile, func(c *daemon.Config) {
			c.Admission.Enable = []string{"AlwaysPullImages", "ExtendedResourceToleration", "LimitPodHardAntiAffinityTopology", "PodNodeSelector",
				"PodTolerationRestriction", "SecurityContextDeny", "NamespaceAutoProvision", "NamespaceExists"}
		})
		c.shows(c.post(201, pods, `{"metadata":{"name":"pulled"},"spec":{"containers":[{"name":"c","image":"i:1","imagePullPolicy":"Never","resources":{"limits":{"a.example/x":"1"}}}]}}`),
			map[string]string{"spec|containers|0|imagePullPolicy": `"Always"`, "spec|tolerations|0": `{"effect":"NoExecute","key":"node.platform.io/not-ready","operator":"Exists","tolerationSeconds":300}`,
				"spec|tolerations|2": `{"effect":"NoSchedule","key":"a.example/x","operator":"Exists"}`})
		c.refuses(pods, podOf("x", `"securityContext":{"runAsUser":1}`), "pod.Spec.SecurityContext.RunAsUser is forbidden")
		c.refuses(pods, podOf("x", `"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{}}]}}`),
			"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key platform.io/hostname is allowed")

		c.post(201, "/api/v1/namespaces", `{"metadata":{"name":"placed","annotations":{"scheduler.alpha.platform.io/node-selector":"env=test",
			"scheduler.alpha.platform.io/defaultTolerations":"[{\"key\":\"k\",\"operator\":\"Exists\"}]",
			"scheduler.alpha.platform.io/tolerationsWhitelist":"[{\"key\":\"k\",\"operator\":\"Exists\"},{\"key\":\"node.platform.io/not-ready\",\"operator\":\"Exists\"},{\"key\":\"node.platform.io/unreachable\",\"operator\":\"Exists\"}]"}}}`)
		const placed = "/api/v1/namespaces/placed/pods"
		c.shows(c.post(201, placed, podOf("p", "")), map[string]string{"spec|nodeSelector": `{"env":"test"}`, "spec|tolerations|2": `{"key":"k","operator":"Exists"}`})
		c.refuses(placed, podOf("x", `"nodeSelector":{"env":"other"}`), "pod node label selector conflicts with its namespace node label selector")
		c.refuses(placed, podOf("x", `"tolerations":[{"key":"z","operator":"Exists"}]`),
			"pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist")

		config := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`
		c.post(404, "/api/v1/namespaces/made/configmaps?dryRun=All", config)
		c.post(201, "/api/v1/namespaces/made/configmaps", config)
		c.Send(200, http.MethodGet, "/api/v1/namespaces/made", "", "")
		c.Send(201, http.MethodPatch, "/api/v1/namespaces/applied/configmaps/c?fieldManager=m", "application/apply-patch+yaml", config)
		c.Send(404, http.MethodPatch, "/api/v1/namespaces/patched/configmaps/c", client.MergePatch, config)
		c.refuses("/api/v1/namespaces/Bad_Name/configmaps", config, "is forbidden")
	}
}

// TestPodPluginSwitchedOff: without the plugins Pods are stored as they are sent; what the store itself keeps stays.
func TestPodPluginSwitchedOff(t *testing.T) {
	t.Parallel()
	c := openPodPlugins(t, "platform", func(c *daemon.Config) {
		c.Admission.Disable = []string{"ServiceAccount", "Priority", "DefaultTolerationSeconds", "RuntimeClass", "LimitRanger", "PodTopologyLabels", "NamespaceLifecycle"}
	})
	c.shows(c.post(201, pods, podOf("p", `"serviceAccountName":"none","priorityClassName":"none","runtimeClassName":"none"`)),
		map[string]string{"spec|volumes": "absent", "spec|tolerations": "absent", "spec|priority": "absent"})
	c.post(404, "/api/v1/namespaces/missing/configmaps", `{"metadata":{"name":"c"}}`)
	c.Send(403, http.MethodDelete, "/api/v1/namespaces/default", "", "")
	c.Send(403, http.MethodDelete, classes+"/system-node-critical", "", "")
}
