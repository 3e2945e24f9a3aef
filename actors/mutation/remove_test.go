package mutation

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

func deletion(o request.Delete) request.Mutation {
	return request.Mutation{Change: o}
}

func seconds(n int64) request.Delete { return request.Delete{GracePeriodSeconds: &n} }

// terminatingConfigMap is a config map that waits for one finalizer.
const terminatingConfigMap = `{"metadata":{"name":"a","namespace":"default","uid":"u1","creationTimestamp":"2029-01-01T00:00:00Z",
	"deletionTimestamp":"2029-06-01T00:00:00Z","deletionGracePeriodSeconds":0,"finalizers":["a.b/c"]},"data":{"x":"1"}}`

func TestDelete(t *testing.T) {
	held := withMetadata(plainConfigMap, `"finalizers":["a.b/c"]`)
	runAll(t, []testCase{
		{name: "at once", resource: "configmaps", current: plainConfigMap, m: deletion(request.Delete{}), op: Remove, fields: map[string]string{"data.x": `"1"`}},
		{name: "background", resource: "configmaps", current: plainConfigMap, m: deletion(request.Delete{PropagationPolicy: "Background"}), op: Remove},
		{name: "absent", resource: "configmaps", m: deletion(request.Delete{}), code: 404, reason: meta.ReasonNotFound},
		{name: "its uid and version", resource: "configmaps", current: plainConfigMap, m: deletion(request.Delete{UID: new("u1"), ResourceVersion: new("5")}), op: Remove},
		{name: "another uid", resource: "configmaps", current: plainConfigMap, m: deletion(request.Delete{UID: new("u2")}), code: 409, reason: meta.ReasonConflict, says: "u2"},
		{name: "an empty uid", resource: "configmaps", current: plainConfigMap, m: deletion(request.Delete{UID: new("")}), code: 409, reason: meta.ReasonConflict, says: "precondition ()"},
		{name: "an empty version", resource: "configmaps", current: plainConfigMap, m: deletion(request.Delete{ResourceVersion: new("")}), code: 409, reason: meta.ReasonConflict, says: "precondition ()"},
		{name: "another version", resource: "configmaps", current: plainConfigMap, m: deletion(request.Delete{ResourceVersion: new("4")}), code: 409, reason: meta.ReasonConflict},
		{name: "a version while one is on its way", resource: "configmaps", current: plainConfigMap, pending: true, m: deletion(request.Delete{ResourceVersion: new("5")}),
			code: 409, reason: meta.ReasonConflict},
		{name: "a finalizer holds it", resource: "configmaps", current: held, m: deletion(request.Delete{}), op: Put,
			fields: map[string]string{"metadata.deletionTimestamp": `"2030-01-02T03:04:05Z"`, "metadata.deletionGracePeriodSeconds": "0", "metadata.finalizers": `["a.b/c"]`}},
		{name: "a second time", resource: "configmaps", current: terminatingConfigMap, m: deletion(request.Delete{}), op: None},
		{name: "a second time with a grace period", resource: "configmaps", current: terminatingConfigMap, m: deletion(seconds(0)), op: None},
		{name: "orphan", resource: "configmaps", current: plainConfigMap, m: deletion(request.Delete{PropagationPolicy: "Orphan"}), op: Put,
			fields: map[string]string{"metadata.finalizers": `["orphan"]`, "metadata.deletionTimestamp": `"2030-01-02T03:04:05Z"`}},
		{name: "foreground", resource: "configmaps", current: held, m: deletion(request.Delete{PropagationPolicy: "Foreground"}), op: Put,
			fields: map[string]string{"metadata.finalizers": `["a.b/c","foregroundDeletion"]`}},
		{name: "one policy for another", resource: "configmaps", current: strings.Replace(terminatingConfigMap, "a.b/c", "orphan", 1),
			m: deletion(request.Delete{PropagationPolicy: "Foreground"}), op: Put, fields: map[string]string{"metadata.finalizers": `["foregroundDeletion"]`}},
		{name: "background lets go of a policy", resource: "configmaps", current: strings.Replace(terminatingConfigMap, "a.b/c", "orphan", 1),
			m: deletion(request.Delete{PropagationPolicy: "Background"}), op: Remove},
		{name: "what orphans by itself", resource: "replicationcontrollers", current: plainController, m: deletion(request.Delete{}), op: Put,
			fields: map[string]string{"metadata.finalizers": `["orphan"]`}},
		{name: "what orphans by itself, in the background", resource: "replicationcontrollers", current: plainController, m: deletion(request.Delete{PropagationPolicy: "Background"}), op: Remove},
		{name: "what orphans by itself, held for its dependents", resource: "replicationcontrollers", current: withMetadata(plainController, `"finalizers":["foregroundDeletion"]`), m: deletion(request.Delete{}), op: Put,
			fields: map[string]string{"metadata.finalizers": `["foregroundDeletion"]`}},
		{name: "a namespace", resource: "namespaces", current: plainNamespace, m: deletion(request.Delete{}), op: Put,
			fields: map[string]string{"status.phase": `"Terminating"`, "metadata.deletionTimestamp": `"2030-01-02T03:04:05Z"`, "spec.finalizers": `["platform"]`}},
	})
}

// TestGrace: a scheduled Pod has time to end, which can be shortened but not prolonged.
func TestGrace(t *testing.T) {
	free := strings.Replace(runningPod, `"nodeName":"n",`, "", 1)
	done := strings.Replace(runningPod, "Running", "Succeeded", 1)
	ending := withMetadata(runningPod, `"deletionTimestamp":"2030-01-02T03:05:05Z","deletionGracePeriodSeconds":60`)
	after := func(grace, at string) map[string]string {
		return map[string]string{"metadata.deletionGracePeriodSeconds": grace, "metadata.deletionTimestamp": `"` + at + `"`}
	}
	runAll(t, []testCase{
		{name: "its own", resource: "pods", current: runningPod, m: deletion(request.Delete{}), op: Put, fields: after("30", "2030-01-02T03:04:35Z")},
		{name: "deleting raises the generation", resource: "pods", current: runningPod, m: deletion(request.Delete{}), op: Put, fields: map[string]string{"metadata.generation": "4"}},
		{name: "as asked", resource: "pods", current: runningPod, m: deletion(seconds(60)), op: Put, fields: after("60", "2030-01-02T03:05:05Z")},
		{name: "none", resource: "pods", current: runningPod, m: deletion(seconds(0)), op: Remove},
		{name: "less than none", resource: "pods", current: runningPod, m: deletion(seconds(-1)), op: Put, fields: after("1", "2030-01-02T03:04:06Z")},
		{name: "not scheduled", resource: "pods", current: free, m: deletion(request.Delete{}), op: Remove},
		{name: "not scheduled, though asked", resource: "pods", current: free, m: deletion(seconds(60)), op: Remove},
		{name: "has ended", resource: "pods", current: done, m: deletion(request.Delete{}), op: Remove},
		{name: "has ended, held", resource: "pods", current: withMetadata(done, `"finalizers":["a.b/c"]`), m: deletion(request.Delete{}), op: Put, fields: after("0", "2030-01-02T03:04:05Z")},
		{name: "shorter", resource: "pods", current: ending, m: deletion(seconds(10)), op: Put, fields: after("10", "2030-01-02T03:04:15Z")},
		{name: "shorter leaves the generation", resource: "pods", current: ending, m: deletion(seconds(10)), op: Put, fields: map[string]string{"metadata.generation": "3"}},
		{name: "longer", resource: "pods", current: ending, m: deletion(seconds(90)), op: None},
		{name: "again without asking", resource: "pods", current: ending, m: deletion(request.Delete{}), op: None},
		{name: "to none", resource: "pods", current: ending, m: deletion(seconds(0)), op: Remove},
		{name: "to none, held", resource: "pods", current: withMetadata(ending, `"finalizers":["a.b/c"]`), m: deletion(seconds(0)), op: Put, fields: after("0", "2030-01-02T03:04:05Z")},
	})
}

// TestTerminating: a deletionTimestamp never changes and no finalizer is added to a terminating
// object. It is removed with its last finalizer, and not before.
func TestTerminating(t *testing.T) {
	update := request.Mutation{Change: request.Update{}}
	ungrateful := withMetadata(runningPod, `"deletionTimestamp":"2030-01-02T03:05:05Z","deletionGracePeriodSeconds":60,"finalizers":["a.b/c"]`)
	leaving := strings.Replace(withMetadata(plainNamespace, `"deletionTimestamp":"2029-06-01T00:00:00Z"`), "Active", "Terminating", 1)
	without := func(o string) string { return strings.Replace(o, `"finalizers":["a.b/c"]`, `"finalizers":[]`, 1) }
	runAll(t, []testCase{
		{name: "the last finalizer goes", resource: "configmaps", current: terminatingConfigMap, m: update, body: without(terminatingConfigMap), op: Remove},
		{name: "the last finalizer goes by a patch", resource: "configmaps", current: terminatingConfigMap, op: Remove,
			m: request.Mutation{Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"finalizers":null}}`)}}},
		{name: "one of two goes", resource: "configmaps", current: strings.Replace(terminatingConfigMap, `"a.b/c"`, `"a.b/c","d.e/f"`, 1), m: update, body: terminatingConfigMap, op: Put,
			fields: map[string]string{"metadata.finalizers": `["a.b/c"]`}},
		{name: "none can be added", resource: "configmaps", current: terminatingConfigMap, m: update, body: strings.Replace(terminatingConfigMap, `"a.b/c"`, `"a.b/c","d.e/f"`, 1),
			code: 422, reason: meta.ReasonInvalid, says: "no new finalizers can be added"},
		{name: "none can be swapped", resource: "configmaps", current: terminatingConfigMap, m: update, body: strings.Replace(terminatingConfigMap, `"a.b/c"`, `"d.e/f"`, 1), code: 422, reason: meta.ReasonInvalid},
		{name: "it does not come back", resource: "configmaps", current: terminatingConfigMap, m: update,
			body: `{"metadata":{"deletionTimestamp":null,"finalizers":["a.b/c"]},"data":{"x":"1"}}`, op: None},
		{name: "its deletion time stays", resource: "configmaps", current: terminatingConfigMap, m: update, body: strings.Replace(terminatingConfigMap, "2029-06", "2031-06", 1), op: None},
		{name: "it still can change", resource: "configmaps", current: terminatingConfigMap, m: update, body: strings.Replace(terminatingConfigMap, `"1"`, `"2"`, 1), op: Put,
			fields: map[string]string{"data.x": `"2"`, "metadata.deletionTimestamp": `"2029-06-01T00:00:00Z"`}},
		{name: "its name stays taken", resource: "configmaps", current: terminatingConfigMap, m: request.Mutation{Change: request.Create{}}, body: `{}`, code: 409, reason: meta.ReasonAlreadyExists},
		{name: "a grace period outlasts the finalizers", resource: "pods", current: ungrateful, m: update, body: without(ungrateful), op: Put,
			fields: map[string]string{"metadata.deletionGracePeriodSeconds": "60"}},
		{name: "a namespace waits for its own finalizers", resource: "namespaces", current: leaving, m: update, body: withMetadata(leaving, `"labels":{"l":"2"}`), op: Put},
		{name: "a namespace goes with the last of them", resource: "namespaces", current: leaving,
			m: request.Mutation{Change: request.Update{}, Subresource: "finalize"}, body: `{"spec":{"finalizers":[]}}`, op: Remove},
		{name: "a namespace waits for other finalizers too", resource: "namespaces", current: withMetadata(leaving, `"finalizers":["a.b/c"]`),
			m: request.Mutation{Change: request.Update{}, Subresource: "finalize"}, body: `{"metadata":{"finalizers":["a.b/c"]},"spec":{"finalizers":[]}}`, op: Put},
	})
}
