package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestPodBinding(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	old := createdPod(t, k, ``)
	old.EnsureObject("metadata")["labels"] = tree.Tree{"a": "1", "b": "1"}
	old.Object("status")["nominatedNodeName"] = "m"
	obj, faults := writeSubresource(t, k, "binding", old, `{"metadata":{"name":"x","labels":{"a":"2"},"annotations":{"c":"3"}},"target":{"kind":"Node","name":"n"}}`)
	Expect(t, "bound", faults, nil)
	EqualJSON(t, "node", obj.Object("spec")["nodeName"], `"n"`)
	EqualJSON(t, "labels", obj.Object("metadata")["labels"], `{"a":"2","b":"1"}`)
	EqualJSON(t, "annotations", obj.Object("metadata")["annotations"], `{"c":"3"}`)
	EqualJSON(t, "status", obj["status"], `{"phase":"Pending","qosClass":"BestEffort","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-02T00:00:00Z"}]}`)
	if !k.Subresource("binding").View.KeepsGeneration {
		t.Error("a binding counts as a change of the spec")
	}
	for _, c := range []struct{ name, spec, metadata, body, want string }{
		{"no name of a Pod", ``, `{}`, `{"target":{"kind":"Node","name":"n"}}`, `name in URL does not match name in Binding object`},
		{"other kind", ``, `{}`, `{"metadata":{"name":"x"},"target":{"kind":"Pod","name":"n"}}`, `target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"`},
		{"no name", ``, `{}`, `{"metadata":{"name":"x"},"target":{}}`, `target.name: Required value`},
		{"bad name", ``, `{}`, `{"metadata":{"name":"x"},"target":{"name":"N"}}`, `spec.nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain…`},
		{"again", `"nodeName":"n"`, `{}`, `{"metadata":{"name":"x"},"target":{"name":"m"}}`, `Operation cannot be fulfilled on pods/binding "x": pod x is already assigned to node "n"`},
		{"going", ``, `{"deletionTimestamp":"2026-01-01T00:00:00Z"}`, `{"metadata":{"name":"x"},"target":{"name":"m"}}`, `Operation cannot be fulfilled on pods/binding "x": pod x is being deleted, cannot be assigned to a host`},
		{"gated", `"schedulingGates":[{"name":"g"}]`, `{}`, `{"metadata":{"name":"x"},"target":{"name":"m"}}`, `Operation cannot be fulfilled on pods/binding "x": pod x has non-empty .spec.schedulingGates`},
	} {
		old := createdPod(t, k, c.spec)
		for name, value := range Parse(t, c.metadata) {
			old.Object("metadata")[name] = value
		}
		_, faults := writeSubresource(t, k, "binding", old, c.body)
		Expect(t, c.name, faults, []string{c.want})
	}
}

func TestBindingKeepsTransitionTime(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	for status, want := range map[string]string{"True": "2026-01-01T00:00:00Z", "False": "2026-01-02T00:00:00Z"} {
		old := createdPod(t, k, ``)
		old.Object("status")["conditions"] = []any{tree.Tree{"type": "Ready", "status": "False"},
			tree.Tree{"type": "PodScheduled", "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Unschedulable"}}
		obj, _ := writeSubresource(t, k, "binding", old, `{"metadata":{"name":"x"},"target":{"name":"n"}}`)
		EqualJSON(t, status, obj.Object("status")["conditions"], `[{"type":"Ready","status":"False"},{"type":"PodScheduled","status":"True","lastTransitionTime":"`+want+`"}]`)
	}
}

func TestPodEphemeralContainers(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	old := createdPod(t, k, `"volumes":[{"name":"v"}]`)
	const one = `{"name":"e","image":"i"}`
	body := func(containers string) string {
		return `{"spec":{"nodeName":"other","ephemeralContainers":[` + containers + `]}}`
	}
	first, faults := writeSubresource(t, k, "ephemeralcontainers", old, body(one))
	Expect(t, "first", faults, nil)
	EqualJSON(t, "first", first.Object("spec")["ephemeralContainers"], `[{"name":"e","image":"i","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"}]`)
	if first.Object("spec").Has("nodeName") {
		t.Error("the sub-resource changed spec.nodeName")
	}
	const path = "spec.ephemeralContainers"
	for _, c := range []struct {
		name, containers string
		want             []string
	}{
		{"the same", one, nil},
		{"one more", one + `,{"name":"f","image":"j","targetContainerName":"c"}`, nil},
		{"one less", ``, []string{path + ": Forbidden: existing ephemeral containers \"e\" may not be removed"}},
		{"another image", `{"name":"e","image":"j"}`, []string{path + ": Forbidden: existing ephemeral containers \"e\" may not be changed\nchanged: image"}},
		{"a name that is taken", one + `,{"name":"c","image":"i"}`, []string{path + `[1].name: Duplicate value: "c"`}},
		{"no such target", one + `,{"name":"f","image":"i","targetContainerName":"z"}`, []string{path + `[1].targetContainerName: Not found: "z"`}},
		{"a part of a volume", one + `,{"name":"f","image":"i","volumeMounts":[{"name":"v","mountPath":"/a","subPath":"b"}]}`, []string{path + `[1].volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container`}},
		{"ports", one + `,{"name":"f","image":"i","ports":[{"containerPort":1}]}`, []string{path + `[1].ports: Forbidden: cannot be set for an Ephemeral Container`}},
	} {
		_, faults := writeSubresource(t, k, "ephemeralcontainers", first, body(c.containers))
		Expect(t, c.name, faults, c.want)
	}
	old.EnsureObject("metadata", "annotations")["platform.io/config.mirror"] = "x"
	_, faults = writeSubresource(t, k, "ephemeralcontainers", old, body(one))
	Expect(t, "mirror", faults, []string{`: Forbidden: static pods do not support ephemeral containers`})
	Expect(t, "on create", Create(k, newPod(t, k, `"ephemeralContainers":[`+one+`]`)), []string{path + `: Forbidden: cannot be set on create`})
	Expect(t, "on create", Create(k, newPod(t, k, `"nodeName":"n","schedulingGates":[{"name":"g"}]`)), []string{`spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared`})
}

func TestPodResize(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	containers := func(resources string) string {
		return `"containers":[{"name":"c","image":"i","resources":` + resources + `},{"name":"d","image":"i"}],"initContainers":[{"name":"s","image":"i","restartPolicy":"Always"},{"name":"o","image":"i"}]`
	}
	const asked = `{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"memory":"2Gi"}}`
	old := createdPod(t, k, containers(asked))
	obj, faults := writeSubresource(t, k, "resize", old, `{"spec":{"nodeName":"n",`+containers(`{"requests":{"cpu":"2","memory":"1Gi"},"limits":{"memory":"3Gi"}}`)+`}}`)
	Expect(t, "resize", faults, nil)
	EqualJSON(t, "resources", obj.Object("spec").Objects("containers")[0]["resources"], `{"requests":{"cpu":"2","memory":"1Gi"},"limits":{"memory":"3Gi"}}`)
	if obj.Object("spec").Has("nodeName") {
		t.Error("the sub-resource changed spec.nodeName")
	}
	const at, qos = "spec.containers[0].resources", `spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing`
	for _, c := range []struct {
		name, spec string
		want       []string
	}{
		{"nothing", containers(asked), nil},
		{"more than the limit", containers(`{"requests":{"cpu":"1","memory":"4Gi"},"limits":{"memory":"2Gi"}}`), []string{at + `.requests: Invalid value: "4Gi": must be less than or equal to memory limit of 2Gi`}},
		{"a request less", containers(`{"requests":{"memory":"1Gi"},"limits":{"memory":"2Gi"}}`), []string{at + `.requests: Forbidden: resource requests cannot be removed`}},
		{"a limit less", containers(`{"requests":{"cpu":"1","memory":"1Gi"}}`), []string{at + `.limits: Forbidden: resource limits cannot be removed`}},
		{"another resource", containers(`{"requests":{"cpu":"1","memory":"1Gi","ephemeral-storage":"1Gi"},"limits":{"memory":"2Gi"}}`), []string{`spec: Forbidden: only cpu and memory resources are mutable`}},
		{"another order", `"containers":[{"name":"d","image":"i"},{"name":"c","image":"i"}],"initContainers":[{"name":"s","image":"i"},{"name":"o","image":"i"}]`, []string{
			`spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize`, `spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize`}},
		{"one less", `"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"s","image":"i"},{"name":"o","image":"i"}]`, []string{`spec.containers: Forbidden: containers may not be added or removed on resize`}},
	} {
		_, faults := writeSubresource(t, k, "resize", old, `{"spec":{`+c.spec+`}}`)
		Expect(t, c.name, faults, c.want)
	}
	init := func(list string) []string {
		_, faults := writeSubresource(t, k, "resize", old, `{"spec":{"containers":[{"name":"c","resources":`+asked+`},{"name":"d"}],"initContainers":[`+list+`]}}`)
		return faults
	}
	Expect(t, "sidecar", init(`{"name":"s","resources":{"requests":{"cpu":"1"}}},{"name":"o"}`), nil)
	Expect(t, "init", init(`{"name":"s"},{"name":"o","resources":{"requests":{"cpu":"1"}}}`), []string{`spec: Forbidden: resources for non-sidecar init containers are immutable`})
	_, faults = writeSubresource(t, k, "resize", createdPod(t, k, `"os":{"name":"windows"}`), `{"spec":{"containers":[{"name":"c"}]}}`)
	Expect(t, "windows", faults, []string{`: Forbidden: windows pods cannot be resized`})
	static := createdPod(t, k, ``)
	static.EnsureObject("metadata", "annotations")["platform.io/config.mirror"] = "x"
	_, faults = writeSubresource(t, k, "resize", static, `{"spec":{"containers":[{"name":"c"}]}}`)
	Expect(t, "mirror", faults, []string{`: Forbidden: static pods cannot be resized`})
	old.Object("status")["containerStatuses"] = []any{tree.Tree{"name": "c", "state": tree.Tree{"running": tree.Tree{}}}}
	_, faults = writeSubresource(t, k, "resize", old, `{"spec":{`+containers(asked)+`}}`)
	Expect(t, "an old node", faults, []string{`spec: Forbidden: Pod running on node without support for resize`})
	_, faults = writeSubresource(t, k, "resize", createdPod(t, k, `"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]`), `{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"2","memory":"1Gi"}}}]}}`)
	Expect(t, "another class", faults, []string{qos})
}

func TestPodStatus(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	old := createdPod(t, k, `"restartPolicy":"OnFailure"`)
	old.Object("status")["containerStatuses"] = []any{Parse(t, `{"name":"c","state":{"terminated":{"exitCode":0}}}`)}
	obj, faults := writeSubresource(t, k, "status", old, `{"spec":{"nodeName":"n"},"status":{"phase":"Running","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0}}}]}}`)
	Expect(t, "status", faults, nil)
	EqualJSON(t, "status", obj["status"], `{"phase":"Running","qosClass":"BestEffort","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0}}}]}`)
	obj, _ = writeSubresource(t, k, "status", old, `{"status":{"podIP":"10.0.0.2","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}]}}`)
	EqualJSON(t, "addresses", obj.Object("status")["podIPs"], `[{"ip":"10.0.0.2"}]`)
	for body, want := range map[string]string{
		`{"qosClass":"Guaranteed"}`:                                   `status.qosClass: Invalid value: "Guaranteed": field is immutable`,
		`{"nominatedNodeName":"N"}`:                                   `status.nominatedNodeName: Invalid value: "N": a lowercase RFC 1123 subdomain…`,
		`{"observedGeneration":-1}`:                                   `status.observedGeneration: Invalid value: -1: must be greater than or equal to 0`,
		`{"containerStatuses":[{"name":"c","state":{"running":{}}}]}`: `status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state`,
	} {
		_, faults := writeSubresource(t, k, "status", old, `{"status":`+body+`}`)
		Expect(t, body, faults, []string{want})
	}
	started := createdPod(t, k, `"restartPolicy":"Never","initContainers":[{"name":"i","image":"i"}]`)
	started.Object("status")["initContainerStatuses"] = []any{Parse(t, `{"name":"i","state":{"terminated":{"exitCode":0}}}`)}
	_, faults = writeSubresource(t, k, "status", started, `{"status":{"initContainerStatuses":[{"name":"i","state":{"running":{}}}]}}`)
	Expect(t, "init container", faults, []string{`status.initContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state`})
	old.Object("status")["containerStatuses"] = []any{Parse(t, `{"name":"c","state":{"terminated":{"exitCode":1}}}`)}
	_, faults = writeSubresource(t, k, "status", old, `{"status":{"containerStatuses":[{"name":"c","state":{"running":{}}}]}}`)
	Expect(t, "failed", faults, nil)
}

// TestGatedPodAffinity: node selection of a gated Pod may only become narrower.
func TestGatedPodAffinity(t *testing.T) {
	k := CoreKind(t, meta.Platform, "Pod")
	affinity := func(terms string) string {
		return `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + terms + `]}}}`
	}
	const a, b, gate = `{"key":"a","operator":"Exists"}`, `{"key":"b","operator":"Exists"}`, `"schedulingGates":[{"name":"g"}],`
	const path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	for _, c := range []struct {
		old, now string
		want     []string
	}{
		{`"nodeSelector":{"a":"b"}`, `"nodeSelector":{"a":"b","c":"d"}`, nil},
		{`"nodeSelector":{"a":"b"}`, `"nodeSelector":{"a":"c"}`, []string{`spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)`}},
		{`"nodeSelector":{}`, affinity(`{"matchExpressions":[` + a + `]}`), nil},
		{affinity(`{"matchExpressions":[` + a + `]}`), affinity(`{"matchExpressions":[` + a + `,` + b + `]}`), nil},
		{affinity(`{"matchExpressions":[` + a + `]}`), affinity(`{"matchExpressions":[` + b + `]}`), []string{path + `[0]: Invalid value: {"matchExpressions":[{"key":"b","operator":"Exists"}]}: only additions are allowed (no mutations or deletions)`}},
		{affinity(`{"matchExpressions":[` + a + `]}`), affinity(`{"matchExpressions":[` + a + `]},{"matchExpressions":[` + b + `]}`), []string{path + `: Invalid value: […`}},
	} {
		old := createdPod(t, k, gate+c.old)
		Expect(t, c.old+" → "+c.now, Update(k, newPod(t, k, gate+c.now), old), c.want)
	}
	old := createdPod(t, k, ``)
	Expect(t, "no gate", Update(k, newPod(t, k, `"nodeSelector":{"a":"b"}`), old), []string{"spec: Forbidden: pod updates may not change fields other than…"})
}

func TestContainerResources(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "Pod")
	const at = "spec.containers[0].resources"
	for resources, want := range map[string][]string{
		`{"limits":{"example.com/gpu":"1","cpu":"1"},"requests":{"example.com/gpu":"1"}}`: nil,
		`{"limits":{"example.com/gpu":"1500m"}}`:                                          {at + `.limits[example.com/gpu]: Invalid value: "1500m": must be an integer`, at + `.requests[example.com/gpu]: Invalid value: "1500m": must be an integer`},
		`{"limits":{"example.com/gpu":"2"},"requests":{"example.com/gpu":"1"}}`:           {at + `.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2`},
		`{"requests":{"example.com/gpu":"1"}}`:                                            {at + `.limits: Required value: Limit must be set for non overcommitable resources`},
		`{"limits":{"hugepages-2Mi":"2Mi"}}`:                                              {at + `: Forbidden: HugePages require cpu or memory`},
		`{"limits":{"hugepages-2Mi":"2Mi","memory":"1Gi"}}`:                               nil,
		`{"limits":{"requests.example.com/gpu":"1"}}`:                                     {at + `.limits[requests.example.com/gpu]: Invalid value: "requests.example.com/gpu": doesn't follow extended resource name standard`, at + `.requests[requests.example.com/gpu]: Invalid value: "requests.example.com/gpu": doesn't follow extended resource name standard`},
	} {
		Expect(t, resources, Create(k, newPod(t, k, `"containers":[{"name":"c","image":"i","resources":`+resources+`}]`)), want)
	}
}
