package mutation

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

const podSpec = `{"spec":{"containers":[{"name":"c","image":"i"}]}}`

// runningPod is a Pod on a node, with the default grace period of 30 s.
const runningPod = `{"metadata":{"name":"a","namespace":"default","uid":"u1","creationTimestamp":"2029-01-01T00:00:00Z","generation":3,"labels":{"l":"1"}},
	"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}`

const plainNamespace = `{"metadata":{"name":"a","uid":"u1","creationTimestamp":"2029-01-01T00:00:00Z"},"spec":{"finalizers":["platform"]},"status":{"phase":"Active"}}`

// TestScope: what the object and each of its subresources may change, and which changes raise the
// generation.
func TestScope(t *testing.T) {
	update := request.Mutation{Change: request.Update{}}
	status := request.Mutation{Change: request.Update{}, Subresource: "status"}
	finalize := request.Mutation{Change: request.Update{}, Subresource: "finalize"}
	mergeStatus := request.Mutation{Subresource: "status",
		Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"labels":{"l":"2"}},"spec":{"nodeName":"m"},"status":{"phase":"Failed"}}`)}}
	runAll(t, []testCase{
		{name: "the spec raises the generation", resource: "pods", current: runningPod, m: update, body: strings.Replace(runningPod, `"i"`, `"j"`, 1),
			op: Put, fields: map[string]string{"metadata.generation": "4", "spec.containers.0.image": `"j"`}},
		{name: "clients do not", resource: "pods", current: runningPod, m: update, body: strings.Replace(runningPod, `"generation":3`, `"generation":9`, 1), op: None},
		{name: "a label does not", resource: "pods", current: runningPod, m: update, body: strings.Replace(runningPod, `"l":"1"`, `"l":"2"`, 1),
			op: Put, fields: map[string]string{"metadata.generation": "3", "metadata.labels.l": `"2"`}},
		{name: "the main resource leaves the status", resource: "pods", current: runningPod, m: update, body: strings.Replace(runningPod, "Running", "Failed", 1), op: None},
		{name: "the main resource leaves the status when it is missing", resource: "pods", current: runningPod, m: update,
			body: strings.Replace(strings.Replace(runningPod, `,"status":{"phase":"Running"}`, "", 1), `"l":"1"`, `"l":"2"`, 1),
			op:   Put, fields: map[string]string{"status.phase": `"Running"`}},
		{name: "the status", resource: "pods", current: runningPod, m: status, body: strings.Replace(runningPod, "Running", "Failed", 1),
			op: Put, fields: map[string]string{"status.phase": `"Failed"`, "metadata.generation": "3"}},
		{name: "the status and metadata", resource: "pods", current: runningPod, m: status,
			body: `{"metadata":{"name":"a","labels":{"l":"2"},"finalizers":["a.b/c"]},"spec":{"containers":[{"name":"c","image":"j"}]},"status":{"phase":"Failed"}}`,
			op:   Put, fields: map[string]string{"metadata.labels.l": `"2"`, "metadata.finalizers": `["a.b/c"]`, "spec.containers.0.image": `"i"`, "status.phase": `"Failed"`}},
		{name: "a patch of the status", resource: "pods", current: runningPod, m: mergeStatus,
			op: Put, fields: map[string]string{"metadata.labels.l": `"2"`, "spec.nodeName": `"n"`, "status.phase": `"Failed"`, "metadata.generation": "3"}},
		{name: "a patch of the status in another namespace", resource: "pods", current: runningPod, m: request.Mutation{Subresource: "status",
			Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"namespace":"other"}}`)}}, code: 400, reason: meta.ReasonBadRequest, says: "does not match the namespace"},
		{name: "the status keeps preconditions", resource: "pods", current: runningPod, m: status, body: withMetadata(runningPod, `"resourceVersion":"4"`), code: 409, reason: meta.ReasonConflict},
		{name: "the status of nothing", resource: "pods", m: status, body: runningPod, code: 404, reason: meta.ReasonNotFound},
		{name: "finalize changes the finalizers of the spec", resource: "namespaces", current: plainNamespace, m: finalize,
			body: `{"metadata":{"labels":{"l":"2"}},"spec":{"finalizers":["platform","a.b/c"]},"status":{"phase":"Terminating"}}`,
			op:   Put, fields: map[string]string{"spec.finalizers": `["platform","a.b/c"]`, "status.phase": `"Active"`, "metadata.labels.l": `"2"`}},
		{name: "the main resource leaves the finalizers of the spec", resource: "namespaces", current: plainNamespace, m: update,
			body: `{"metadata":{"labels":{"l":"2"}},"spec":{"finalizers":[]}}`, op: Put,
			fields: map[string]string{"spec.finalizers": `["platform"]`, "metadata.labels.l": `"2"`}},
	})
}

// TestPatch: all formats, applied to the client's view.
func TestPatch(t *testing.T) {
	patch := func(kind request.PatchType, body string) request.Mutation {
		return request.Mutation{Change: request.Patch{Type: kind, Body: []byte(body)}}
	}
	strict := patch(request.MergePatch, `{"dota":{"x":"2"}}`)
	strict.FieldValidation = request.Strict
	runAll(t, []testCase{
		{name: "merge", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{"data":{"x":null,"y":"2"}}`), op: Put,
			fields: map[string]string{"data.x": "", "data.y": `"2"`}},
		{name: "merge of what is there", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{"data":{"x":"1"}}`), op: None},
		{name: "merge of nothing", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{}`), op: None},
		{name: "merge with its version", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{"metadata":{"resourceVersion":"5"},"data":{"x":"2"}}`),
			op: Put, fields: map[string]string{"data.x": `"2"`}},
		{name: "merge with another version", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{"metadata":{"resourceVersion":"4"}}`),
			code: 409, reason: meta.ReasonConflict},
		{name: "merge with another uid", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{"metadata":{"uid":"u2"}}`), code: 422, reason: meta.ReasonInvalid, says: "metadata.uid"},
		{name: "merge with another name", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{"metadata":{"name":"b"}}`), code: 400, reason: meta.ReasonBadRequest},
		{name: "merge without a name", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{"metadata":{"name":null}}`), code: 400, reason: meta.ReasonBadRequest},
		{name: "merge of no object", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `[]`), code: 400, reason: meta.ReasonBadRequest},
		{name: "merge of no JSON", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{`), code: 400, reason: meta.ReasonBadRequest},
		{name: "merge of a wrong type", resource: "configmaps", current: plainConfigMap, m: patch(request.MergePatch, `{"data":7}`), code: 422, reason: meta.ReasonInvalid},
		{name: "merge of an unknown field", resource: "configmaps", current: plainConfigMap, m: strict, code: 422, reason: meta.ReasonInvalid, says: `strict decoding error: unknown field "dota"`},
		{name: "merge while one is on its way", resource: "configmaps", current: plainConfigMap, pending: true, m: patch(request.MergePatch, `{"data":{"y":"2"}}`),
			op: Put, fields: map[string]string{"data.x": `"1"`, "data.y": `"2"`}},
		{name: "JSON", resource: "configmaps", current: plainConfigMap, m: patch(request.JSONPatch, `[{"op":"test","path":"/metadata/resourceVersion","value":"5"},{"op":"replace","path":"/data/x","value":"2"}]`),
			op: Put, fields: map[string]string{"data.x": `"2"`}},
		{name: "JSON with names in capitals", resource: "configmaps", current: plainConfigMap, m: patch(request.JSONPatch, `[{"op":"replace","OP":"remove","path":"/data/x","Path":"/data","value":"2"}]`),
			op: Put, fields: map[string]string{"data.x": `"2"`}},
		{name: "JSON with deep content in names in capitals", resource: "configmaps", current: plainConfigMap, m: patch(request.JSONPatch,
			`[{"op":"test","path":"/data/x","value":"1","VALUE":"1","more":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+`}]`),
			code: 400, reason: meta.ReasonBadRequest, says: "exceeded max depth"},
		{name: "JSON in capitals", resource: "configmaps", current: plainConfigMap, m: patch(request.JSONPatch, `[{"OP":"remove","PATH":"/data/x"}]`), code: 422, reason: meta.ReasonInvalid},
		{name: "JSON sees kind and version", resource: "configmaps", current: plainConfigMap, m: patch(request.JSONPatch, `[{"op":"test","path":"/kind","value":"ConfigMap"},{"op":"test","path":"/apiVersion","value":"v1"}]`), op: None},
		{name: "JSON, all or nothing", resource: "configmaps", current: plainConfigMap, m: patch(request.JSONPatch, `[{"op":"replace","path":"/data/x","value":"2"},{"op":"test","path":"/data/x","value":"1"}]`),
			code: 422, reason: meta.ReasonInvalid},
		{name: "strategic merges lists by key", resource: "pods", current: runningPod, m: patch(request.StrategicMergePatch, `{"spec":{"containers":[{"name":"c","image":"j"}]}}`),
			op: Put, fields: map[string]string{"spec.containers.0.image": `"j"`, "metadata.generation": "4", "spec.containers.1": ""}},
		{name: "strategic leaves the status", resource: "pods", current: runningPod, m: patch(request.StrategicMergePatch, `{"status":{"phase":"Failed"}}`), op: None},
		{name: "of nothing", resource: "configmaps", m: patch(request.MergePatch, `{}`), code: 404, reason: meta.ReasonNotFound},
	})
}

// TestPatchWarns: warnings of unknown fields depend on the field validation.
func TestPatchWarns(t *testing.T) {
	k := kindNamed(t, "configmaps")
	for level, want := range map[request.FieldValidation]int{request.Warn: 1, request.Ignore: 0} {
		c := testCase{current: plainConfigMap}
		m := request.Mutation{Kind: k, Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"dota":{"x":"2"}}`)}, FieldValidation: level, Recorder: new(request.Recorder)}
		m.Key.Name, m.Key.Namespace = "a", "default"
		got, err := Apply(c.state(t, k), &m, env)
		if warnings, _ := m.Recorder.Recorded(); err != nil || got.Op != None || len(warnings) != want {
			t.Errorf("level %d: %+v, %v; want %d warnings", level, got, err, want)
		}
	}
}
