package policy_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

func TestPriority(t *testing.T) {
	const class = "priorityclasses.scheduling.platform.io /"
	classes := map[string]string{class + "high": `{"value":10,"preemptionPolicy":"Never"}`, class + "plain": `{"value":5}`}
	none := newCluster(t, classes)
	const resolved = `"priority":10,"priorityClassName":"high","preemptionPolicy":"Never"`
	try(t, chainOf(t, none, meta.Platform, plugins.Priority()), []attempt{
		{name: "no class", new: pod(""), want: pod(`"priority":0,"preemptionPolicy":"PreemptLowerPriority"`)},
		{name: "a class", new: pod(`"priorityClassName":"high"`), want: pod(resolved)},
		{name: "a class and its priority", new: pod(resolved)},
		{name: "a class without a policy", new: pod(`"priorityClassName":"plain","preemptionPolicy":"Never"`), want: pod(`"priorityClassName":"plain","preemptionPolicy":"Never","priority":5`)},
		{name: "an unknown class", new: pod(`"priorityClassName":"low"`), fault: "no PriorityClass with name low was found"},
		{name: "another priority", new: pod(`"priorityClassName":"high","priority":11`),
			fault: "the integer value of priority (11) must not be provided in pod spec; priority admission controller computed 10 from the given PriorityClass name"},
		{name: "another policy", new: pod(`"priorityClassName":"high","preemptionPolicy":"PreemptLowerPriority"`),
			fault: "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name"},
		{name: "an update keeps it", old: pod(resolved), new: pod(`"priorityClassName":"high"`), want: pod(resolved)},
		{name: "a first default", resource: "scheduling.platform.io/priorityclasses", new: `{"globalDefault":true}`},
	})
	classes[class+"d1"], classes[class+"d2"] = `{"value":8,"globalDefault":true}`, `{"value":7,"globalDefault":true}`
	two := newCluster(t, classes)
	try(t, chainOf(t, two, meta.Platform, plugins.Priority()), []attempt{
		{name: "the lower default", new: pod(""), want: pod(`"priority":7,"priorityClassName":"d2"`)},
		{name: "one more default", resource: "scheduling.platform.io/priorityclasses", new: `{"globalDefault":true}`,
			fault: "PriorityClass d2 is already marked as default. Only one default can exist"},
		{name: "a class becomes one", resource: "scheduling.platform.io/priorityclasses", old: `{}`, new: `{"globalDefault":true}`,
			fault: "PriorityClass d2 is already marked as default. Only one default can exist"},
		{name: "no default", resource: "scheduling.platform.io/priorityclasses", new: `{"globalDefault":false}`},
	})
	self := newCluster(t, map[string]string{class + "x": `{"value":8,"globalDefault":true}`})
	try(t, chainOf(t, self, meta.Platform, plugins.Priority()), []attempt{
		{name: "the default itself", resource: "scheduling.platform.io/priorityclasses", old: `{"globalDefault":true}`, new: `{"globalDefault":true}`},
	})
}

func TestRuntimeClass(t *testing.T) {
	c := newCluster(t, map[string]string{
		"runtimeclasses.node.platform.io /heavy":  `{"overhead":{"podFixed":{"cpu":"100m"}}}`,
		"runtimeclasses.node.platform.io /placed": `{"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"t","operator":"Exists"}]}}`,
	})
	try(t, chainOf(t, c, meta.Platform, plugins.RuntimeClass(c)), []attempt{
		{name: "none", new: pod("")},
		{name: "overhead", new: pod(`"runtimeClassName":"heavy"`), want: pod(`"runtimeClassName":"heavy","overhead":{"cpu":"100m"}`)},
		{name: "the same overhead", new: pod(`"runtimeClassName":"heavy","overhead":{"cpu":"0.1"}`), want: pod(`"runtimeClassName":"heavy","overhead":{"cpu":"100m"}`)},
		{name: "another overhead", new: pod(`"runtimeClassName":"heavy","overhead":{"cpu":"1"}`), fault: "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"},
		{name: "overhead without a class", new: pod(`"overhead":{"cpu":"1"}`), fault: "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"},
		{name: "an unknown class", new: pod(`"runtimeClassName":"x"`), fault: `pod rejected: RuntimeClass "x" not found`},
		{name: "a place", new: pod(`"runtimeClassName":"placed","nodeSelector":{"c":"d"},"tolerations":[{"key":"t","operator":"Exists","effect":"NoSchedule"},{"key":"u","operator":"Exists"}]`),
			want: pod(`"runtimeClassName":"placed","nodeSelector":{"a":"b","c":"d"},"tolerations":[{"key":"u","operator":"Exists"},{"key":"t","operator":"Exists"}]`)},
		{name: "another place", new: pod(`"runtimeClassName":"placed","nodeSelector":{"a":"z"}`), fault: "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = z"},
	})
}

func TestTolerations(t *testing.T) {
	const given, unreachable = `{"key":"node.platform.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}`,
		`{"key":"node.platform.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":20}`
	try(t, chainOf(t, nil, meta.Platform, plugins.DefaultTolerationSeconds(meta.Platform, 10, 20)), []attempt{
		{name: "both", new: pod(""), want: pod(`"tolerations":[` + strings.Replace(given, "5", "10", 1) + `,` + unreachable + `]`)},
		{name: "one", new: pod(`"tolerations":[` + given + `]`), want: pod(`"tolerations":[` + given + `,` + unreachable + `]`)},
		{name: "all", new: pod(`"tolerations":[{"operator":"Exists"}]`)},
		{name: "an update", old: pod(""), new: pod(`"tolerations":[` + given + `]`), want: pod(`"tolerations":[` + given + `,` + unreachable + `]`)},
		{name: "an update that leaves them as they are", old: pod(`"tolerations":[` + given + `]`), new: pod(`"tolerations":[` + given + `]`), want: pod(`"tolerations":[` + given + `,` + unreachable + `]`)},
	})
	asks := func(more string) string {
		return `{"spec":{"containers":[{"resources":{"requests":{"cpu":"1","b.example/x":"1"}}}],"initContainers":[{"resources":{"requests":{"a.example/y":"1","platform.io/z":"1"}}}]` + more + `}}`
	}
	try(t, chainOf(t, nil, meta.Platform, plugins.ExtendedResourceToleration(meta.Platform)), []attempt{
		{name: "devices", new: asks(`,"tolerations":[{"key":"k"}]`),
			want: asks(`,"tolerations":[{"key":"k"},{"key":"a.example/y","operator":"Exists","effect":"NoSchedule"},{"key":"b.example/x","operator":"Exists","effect":"NoSchedule"}]`)},
		{name: "an update", old: asks(``), new: asks(``),
			want: asks(`,"tolerations":[{"key":"a.example/y","operator":"Exists","effect":"NoSchedule"},{"key":"b.example/x","operator":"Exists","effect":"NoSchedule"}]`)},
		{name: "none", new: pod("")},
	})
	c := newCluster(t, map[string]string{"namespaces /ns": `{"metadata":{"annotations":{
		"scheduler.alpha.platform.io/defaultTolerations":"[{\"key\":\"d\",\"operator\":\"Exists\"}]",
		"scheduler.alpha.platform.io/tolerationsWhitelist":"[{\"key\":\"d\",\"operator\":\"Exists\"},{\"key\":\"w\",\"operator\":\"Equal\",\"value\":\"v\"},{\"key\":\"node.platform.io/memory-pressure\",\"operator\":\"Exists\"}]"}}}`})
	config, err := plugins.ParsePodTolerationRestrictionConfig(parseTree(t, `{"default":[{"key":"cluster","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}],"whitelist":[{"key":"cluster","operator":"Exists"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	restricted := func(tolerations, class string) string {
		return `{"spec":{"tolerations":[` + tolerations + `]},"status":{"qosClass":"` + class + `"}}`
	}
	const own, pressure = `{"key":"d","operator":"Exists"}`, `{"key":"node.platform.io/memory-pressure","operator":"Exists","effect":"NoSchedule"}`
	try(t, chainOf(t, c, meta.Platform, plugins.PodTolerationRestriction(meta.Platform, config, plugins.NewNamespacePlacements(meta.Platform, c))), []attempt{
		{name: "of the namespace", new: restricted("", "BestEffort"), want: restricted(own, "BestEffort")},
		{name: "memory", new: restricted("", "Burstable"), want: restricted(own+","+pressure, "Burstable")},
		{name: "an update gets what its class is to have", old: restricted("", "Burstable"), new: restricted("", "Burstable"), want: restricted(pressure, "Burstable")},
		{name: "an update gets no default", old: restricted("", "BestEffort"), new: restricted("", "BestEffort")},
		{name: "allowed", new: restricted(`{"key":"w","operator":"Equal","value":"v","effect":"NoSchedule"}`, "BestEffort"),
			want: restricted(`{"key":"w","operator":"Equal","value":"v","effect":"NoSchedule"},`+own, "BestEffort")},
		{name: "refused", new: restricted(`{"key":"z","operator":"Exists"}`, "BestEffort"),
			fault: "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"},
	})
	plain := newCluster(t, map[string]string{"namespaces /ns": `{}`})
	try(t, chainOf(t, plain, meta.Platform, plugins.PodTolerationRestriction(meta.Platform, config, plugins.NewNamespacePlacements(meta.Platform, plain))), []attempt{
		{name: "of the cluster", new: restricted("", "BestEffort"), want: restricted(`{"key":"cluster","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}`, "BestEffort")},
		{name: "refused by the cluster", old: restricted("", "BestEffort"), new: restricted(`{"key":"z","operator":"Exists"}`, "BestEffort"),
			fault: "pod tolerations (possibly merged with namespace default tolerations) conflict with its cluster whitelist"},
	})
	for _, bad := range []string{`{"default":[{"operator":"In"}]}`, `{"whitelist":[{"operator":"Equal"}]}`, `{"default":["x"]}`, `{"default":[{"key":"k","tolerationSeconds":1}]}`} {
		if _, err := plugins.ParsePodTolerationRestrictionConfig(parseTree(t, bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestPodNodeSelector(t *testing.T) {
	config, err := plugins.ParsePodNodeSelectorConfig(parseTree(t, `{"podNodeSelectorPluginConfig":{"clusterDefaultNodeSelector":"env=all","ns":"env=all,zone=a,env=test"}}`))
	if err != nil {
		t.Fatal(err)
	}
	const conflict = "pod node label selector conflicts with its namespace node label selector"
	for annotation, attempts := range map[string][]attempt{
		``: {
			{name: "of the cluster", new: pod(`"nodeSelector":{"zone":"a"}`), fault: "pod node label selector labels conflict with its namespace whitelist"}},
		`env=test, zone = a`: {
			{name: "of the namespace", new: pod(""), want: pod(`"nodeSelector":{"env":"test","zone":"a"}`)},
			{name: "another", new: pod(`"nodeSelector":{"env":"z"}`), fault: conflict},
			{name: "more than allowed", new: pod(`"nodeSelector":{"more":"z"}`), fault: "pod node label selector labels conflict with its namespace whitelist"}},
		`env`: {
			{name: "unreadable", new: pod(""), fault: "the node selector of namespace ns cannot be read: invalid selector: [env]"}},
	} {
		namespace := `{}`
		if annotation != "" {
			namespace = `{"metadata":{"annotations":{"scheduler.alpha.platform.io/node-selector":"` + annotation + `"}}}`
		}
		c := newCluster(t, map[string]string{"namespaces /ns": namespace})
		try(t, chainOf(t, c, meta.Platform, plugins.PodNodeSelector(config, plugins.NewNamespacePlacements(meta.Platform, c))), attempts)
	}
	if _, err := plugins.ParsePodNodeSelectorConfig(parseTree(t, `{"podNodeSelectorPluginConfig":{"ns":"a=b=c"}}`)); err == nil {
		t.Error("a selector with two values is accepted")
	}
}

func TestPodTopologyLabels(t *testing.T) {
	c := newCluster(t, map[string]string{"nodes /n": `{"metadata":{"labels":{"topology.kubernetes.io/zone":"z","topology.kubernetes.io/region":"r","other":"o"}}}`})
	const placed = `{"metadata":{"labels":{"a":"b","topology.kubernetes.io/zone":"z","topology.kubernetes.io/region":"r"}},"spec":{"nodeName":"n"}}`
	const given = `{"metadata":{"labels":{"a":"b","topology.kubernetes.io/zone":"mine"}},"spec":{"nodeName":"n"}}`
	try(t, chainOf(t, c, meta.Kubernetes, plugins.PodTopologyLabels(meta.Kubernetes, c)), []attempt{
		{name: "a binding", resource: "/pods/binding", old: `{}`, new: given, want: placed},
		{name: "a new Pod on a node", new: given, want: placed},
		{name: "a new Pod on none", new: pod("")},
		{name: "an update", old: given, new: given},
		{name: "an unknown node", new: `{"spec":{"nodeName":"m"}}`},
	})
}

func TestLimitPodHardAntiAffinityTopology(t *testing.T) {
	spread := func(key string) string {
		return pod(`"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"` + key + `"}]}}`)
	}
	try(t, chainOf(t, nil, meta.Platform, plugins.LimitPodHardAntiAffinityTopology(meta.Platform)), []attempt{
		{name: "by node", new: spread("platform.io/hostname")},
		{name: "by zone", new: spread("zone"), fault: "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key platform.io/hostname is allowed"},
	})
}
