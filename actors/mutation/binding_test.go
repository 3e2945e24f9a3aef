package mutation

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// TestBinding: a Binding assigns a Pod to a node once, at the time of the write, without a spec
// change.
func TestBinding(t *testing.T) {
	bind := request.Mutation{Change: request.Create{}, Subresource: "binding"}
	const body = `{"metadata":{"name":"a"},"target":{"kind":"Node","name":"m"}}`
	free := strings.Replace(runningPod, `"nodeName":"n",`, "", 1)
	runAll(t, []testCase{
		{name: "a free Pod", resource: "pods", current: free, m: bind, body: body, op: Put, fields: map[string]string{
			"spec.nodeName": `"m"`, "metadata.generation": "3", "status.conditions.0.type": `"PodScheduled"`,
			"status.conditions.0.lastTransitionTime": `"` + timestamp(env.Now) + `"`}},
		{name: "a Pod on a node", resource: "pods", current: runningPod, m: bind, body: body, code: 409, reason: meta.ReasonConflict, says: `pod a is already assigned to node "n"`},
		{name: "another Pod of the name", resource: "pods", current: free, m: bind, body: `{"metadata":{"uid":"u2"},"target":{"name":"m"}}`, code: 409, reason: meta.ReasonConflict},
		{name: "no node", resource: "pods", current: free, m: bind, body: `{"metadata":{"name":"a"},"target":{}}`, code: 422, reason: meta.ReasonInvalid, says: "target.name"},
		{name: "no Pod", resource: "pods", m: bind, body: body, code: 404, reason: meta.ReasonNotFound},
		{name: "another container raises the generation", resource: "pods", current: runningPod, m: request.Mutation{Change: request.Update{}, Subresource: "ephemeralcontainers"},
			body: `{"metadata":{"name":"a"},"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}}`, op: Put, fields: map[string]string{"metadata.generation": "4"}},
	})
}
