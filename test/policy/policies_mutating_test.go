package policy

import (
	"net/http"
	"strings"
	"testing"
)

// TestMutations checks the objects that mutations produce, and the errors of failed mutations.
func TestMutations(t *testing.T) {
	openPoliciesInProfiles(t, func(t *testing.T, c policyCluster) {
		apply := func(expression string) string {
			return `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"` + expression + `"}}]`
		}
		patch := func(expression string) string {
			return `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"` + expression + `"}}]`
		}
		const denied = `policy 'p' with binding 'p-b' denied request: `
		podRules := rules("CREATE UPDATE", "", "v1", "pods")
		const pod = `{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
		deploymentRules := rules("CREATE", "apps", "v1", "deployments")
		const deployment = `{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
		for _, x := range []struct {
			name, match, spec, path, body string
			code                          int
			want                          []string
		}{
			{"apply a label", podRules, apply("Object{metadata: Object.metadata{labels: {'x': 'y'}}}"), pods, pod, 201, []string{`"labels":{"a":"b","x":"y"}`}},
			{"apply to a container", podRules, apply("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', imagePullPolicy: 'Never'}]}}"), pods, pod, 201, []string{`"imagePullPolicy":"Never"`, `"image":"i"`}},
			{"apply one more container", podRules, apply("Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'mesh', image: 'mesh:1', restartPolicy: 'Always'}]}}"), pods, pod, 201, []string{
				`"name":"mesh"`, `"terminationMessagePath":"/dev/termination-log"`}},
			{"apply an atomic list", podRules, apply("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', args: ['x']}]}}"), pods, pod, 403, []string{
				denied + `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers[0].args`, `"reason":"Invalid"`}},
			{"apply an atomic map", podRules, apply("Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}"), pods, pod, 403, []string{`may not mutate atomic arrays, maps or structs: .spec.nodeSelector`}},
			{"apply an unknown field", podRules, apply("Object{spec: Object.spec{none: 1}}"), pods, pod, 403, []string{`.spec.none: field not declared in schema`}},
			{"apply an object out of place", podRules, apply("Object{spec: Object.metadata{name: 'a'}}"), pods, pod, 403, []string{denied + `type mismatch: unexpected type name`}},
			{"apply what is there", podRules, apply("Object{metadata: Object.metadata{labels: {'a': 'b'}}}"), pods, pod, 201, []string{`"labels":{"a":"b"}`}},
			{"apply by a condition", podRules, `"matchConditions":[{"name":"x","expression":"false"}],` + apply("Object{metadata: Object.metadata{labels: {'x': 'y'}}}"), pods, pod, 201, []string{`"labels":{"a":"b"}`}},
			{"apply a status", podRules, apply("Object{status: Object.status{phase: 'Failed'}}"), pods, pod, 201, []string{`"phase":"Pending"`}},
			{"add an operation", "", patch("[JSONPatch{op: 'add', path: '/data/y', value: object.data.x + '!'}]"), configMaps, configMap("a", `"x":"y"`), 201, []string{`"data":{"x":"y","y":"y!"}`}},
			{"escape a key", "", patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: {}}, JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c'), value: 'd'}]"), configMaps, configMap("a", `"x":"y"`), 201, []string{`"labels":{"a.b/c":"d"}`}},
			{"a test that fails", "", patch("[JSONPatch{op: 'test', path: '/data/x', value: 'z'}, JSONPatch{op: 'remove', path: '/data/x'}]"), configMaps, configMap("a", `"x":"y"`), 201, []string{`"data":{"x":"y"}`}},
			{"a test that passes", "", patch("[JSONPatch{op: 'test', path: '/data/x', value: 'y'}, JSONPatch{op: 'remove', path: '/data/x'}]"), configMaps, configMap("a", `"x":"y","k":"v"`), 201, []string{`"data":{"k":"v"}`}},
			{"move and copy", "", patch("[JSONPatch{op: 'copy', from: '/data/x', path: '/data/y'}, JSONPatch{op: 'move', from: '/data/x', path: '/data/z'}]"), configMaps, configMap("a", `"x":"1"`), 201, []string{`"data":{"y":"1","z":"1"}`}},
			{"an object as a value", podRules, patch("[JSONPatch{op: 'add', path: '/spec/containers/-', value: Object.spec.containers{name: 'd', image: 'j'}}]"), pods, pod, 201, []string{`"image":"j"`, `"imagePullPolicy":"Always"`}},
			{"an operation that does not apply", "", patch("[JSONPatch{op: 'remove', path: '/data/none'}]"), configMaps, configMap("a", `"x":"y"`), 403, []string{denied + `JSON Patch: remove operation does not apply`}},
			{"an unknown field", "", patch("[JSONPatch{op: 'add', path: '/none', value: 1}]"), configMaps, configMap("a", `"x":"y"`), 500, []string{`unknown field \"none\"`}},
			{"an error", "", patch("[JSONPatch{op: 'add', path: '/data/y', value: object.data.none}]"), configMaps, configMap("a", `"x":"y"`), 403, []string{denied + `expression '[JSONPatch{op: 'add', path: '/data/y', value: object.data.none}]' resulted in error: no such key: none`}},
			{"an ignored error", "", `"failurePolicy":"Ignore",` + patch("[JSONPatch{op: 'add', path: '/data/y', value: object.data.none}]"), configMaps, configMap("a", `"x":"y"`), 201, []string{`"data":{"x":"y"}`}},
			{"two mutations", "", strings.Replace(patch("[JSONPatch{op: 'add', path: '/data/y', value: '1'}]"), "}]", "}]", 1)[:len(patch("[JSONPatch{op: 'add', path: '/data/y', value: '1'}]"))-1] +
				`,{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {'z': object.data.y + '2'}}"}}]`, configMaps, configMap("a", `"x":"y"`), 201, []string{`"y":"1","z":"12"`}},
			{"variables", "", `"variables":[{"name":"v","expression":"object.data.x + '3'"}],` + patch("[JSONPatch{op: 'add', path: '/data/y', value: variables.v}]"), configMaps, configMap("a", `"x":"y"`), 201, []string{`"y":"y3"`}},
			{"defaults", deploymentRules, patch("[JSONPatch{op: 'remove', path: '/spec/replicas'}]"), "/apis/apps/v1/namespaces/default/deployments", deployment, 201, []string{`"replicas":1`}},
			{"what the server sets", "", patch("has(object.metadata.uid) || has(object.metadata.creationTimestamp) ? [JSONPatch{op: 'add', path: '/data/y', value: 'seen'}] : [JSONPatch{op: 'add', path: '/data/z', value: 'unseen'}]"), configMaps, configMap("a", `"x":"y"`), 201, []string{`"data":{"x":"y","z":"unseen"}`}},
			{"an invalid result", "", patch("[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a b'), value: ''}]"), configMaps, configMap("a", `"x":"y"`), 422, []string{`data[a b]`}},
		} {
			t.Run(x.name, func(t *testing.T) {
				c := c
				c.T = t
				c.mutation("p", x.match, x.spec, "")
				defer c.clear()
				c.send(x.code, http.MethodPost, x.path, x.body, x.want...)
				if x.code == 201 {
					c.send(200, http.MethodDelete, x.path+"/a?gracePeriodSeconds=0", "")
				}
			})
		}
	})
}

// TestMutatedIdentity checks that a policy may change no identity field except the name of a new
// object.
func TestMutatedIdentity(t *testing.T) {
	openPoliciesInProfiles(t, func(t *testing.T, c policyCluster) {
		set := func(path, value string) string {
			return `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'add', path: '` + path + `', value: ` + value + `}]"}}]`
		}
		const overlay = `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{metadata: Object.metadata{name: 'overlaid'}}"}}]`
		c.send(201, http.MethodPost, configMaps, configMap("there", ""))
		for _, x := range []struct {
			spec, method, path, body string
			code                     int
			want                     string
		}{
			{set("/metadata/name", "'renamed'"), http.MethodPost, configMaps, configMap("a", `"x":"y"`), 201, `"name":"renamed"`},
			{set("/metadata/name", "'renamed'"), http.MethodPost, configMaps, configMap("a", `"x":"y"`), 409, "already exists"},
			{set("/metadata/name", "'other'"), http.MethodPost, configMaps, configMap("there", `"x":"y"`), 201, `"name":"other"`},
			{overlay, http.MethodPost, configMaps, `{"metadata":{"generateName":"g-"}}`, 201, `"name":"overlaid"`},
			{set("/metadata/namespace", "'kube-system'"), http.MethodPost, configMaps, configMap("a", ""), 400, "does not match the namespace"},
			{set("/metadata/resourceVersion", "'7'"), http.MethodPost, configMaps, configMap("a", ""), 500, "resourceVersion should not be set"},
			{set("/metadata/name", "'other'"), http.MethodPatch, configMaps + "/there", `{"data":{"a":"b"}}`, 422, "metadata.name"},
			{set("/metadata/uid", "'other'"), http.MethodPatch, configMaps + "/there", `{"data":{"a":"b"}}`, 422, "metadata.uid"},
			{set("/metadata/resourceVersion", "'1'"), http.MethodPatch, configMaps + "/there", `{"data":{"a":"b"}}`, 409, "modified"},
		} {
			c.mutation("p", "", x.spec, "")
			c.send(x.code, x.method, x.path, x.body, x.want)
			c.clear()
		}
		c.send(404, http.MethodGet, configMaps+"/a", "")
		c.send(200, http.MethodGet, configMaps+"/there", "", `"name":"there"`)
	})
}
