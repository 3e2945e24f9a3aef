package policy

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// eventually waits until a request of a user gets a code: what nodes may read follows the Pods.
func (r *userCluster) eventually(user, path string, code int) {
	r.t.Helper()
	client.Eventually(r.t, func() error {
		if a := r.do(user, "GET", path, ""); a.Code != code {
			return fmt.Errorf("%s %s: got %s, want %d", user, path, a, code)
		}
		return nil
	})
}

func TestNodes(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, func(c *daemon.Config, _ string) {
		c.Authorization.Modes, c.Admission.Enable = []string{"Node", "RBAC"}, []string{"NodeRestriction"}
	},
		"system:node:n1=system:nodes", "system:node:n2=system:nodes", "system:node:n3")
	const (
		n1, n2 = "system:node:n1", "system:node:n2"
		ns     = "/api/v1/namespaces/default"
		leases = "/apis/coordination.platform.io/v1/namespaces/platform-node-lease/leases"
	)
	r.must(ns+"/secrets", `{"metadata":{"name":"s"}}`)
	r.must(ns+"/secrets", `{"metadata":{"name":"t"}}`)
	r.must(ns+"/configmaps", `{"metadata":{"name":"m"}}`)

	r.expect(n1, "POST", "/api/v1/nodes", `{"metadata":{"name":"n1"}}`, 201)
	r.expect(n1, "GET", "/api/v1/nodes/n1", "", 200)
	r.expect(n1, "GET", "/api/v1/nodes?fieldSelector=metadata.name%3Dn1", "", 200)
	r.expect(n1, "GET", "/api/v1/nodes", "", 403, "node 'n1' cannot read all nodes, only its own Node object")
	r.expect(n2, "GET", "/api/v1/nodes/n1", "", 403, "node 'n2' cannot read 'n1', only its own Node object")
	r.expect(n1, "PATCH", "/api/v1/nodes/n1/status", `{"status":{"phase":"Running"}}`, 200)
	r.expect(n1, "POST", leases, `{"metadata":{"name":"n1"},"spec":{"holderIdentity":"n1"}}`, 201)
	r.expect(n2, "PATCH", leases+"/n1", `{"spec":{"holderIdentity":"n2"}}`, 403, "can only access node lease with the same name as the requesting node")
	r.expect(n1, "GET", "/api/v1/services", "", 200)
	r.expect(n1, "GET", "/api", "", 200) // by RBAC: it is in system:authenticated
	r.expect(n1, "DELETE", ns+"/secrets/s", "", 403, "can only read resources of this type")
	r.expect("system:node:n3", "GET", "/api/v1/services", "", 403)

	r.expect(n1, "GET", ns+"/secrets/s", "", 403, "no relationship found between node 'n1' and this object")
	r.must(ns+"/pods", `{"metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i","envFrom":[{"secretRef":{"name":"s"}},{"configMapRef":{"name":"m"}}]}]}}`)
	r.eventually(n1, ns+"/secrets/s", 200)
	r.expect(n1, "GET", ns+"/configmaps/m", "", 200)
	r.expect(n1, "GET", ns+"/pods/p", "", 200)
	r.expect(n1, "GET", ns+"/secrets/t", "", 403)

	// What it writes is its own.
	r.expect(n1, "PATCH", ns+"/pods/p/status", `{"status":{"phase":"Running"}}`, 200)
	r.expect(n2, "PATCH", ns+"/pods/p/status", `{"status":{"phase":"Failed"}}`, 403, `node \"n2\" can only update pod status for pods with spec.nodeName set to itself`)
	r.expect(n2, "DELETE", ns+"/pods/p", "", 403, `node \"n2\" can only delete pods with spec.nodeName set to itself`)
	r.expect(n2, "POST", ns+"/pods/p/eviction", `{"metadata":{"name":"p"}}`, 403, "node n2 can only evict pods with spec.nodeName set to itself")
	r.expect(n2, "POST", ns+"/pods", `{"metadata":{"name":"q"},"spec":{"nodeName":"n2","containers":[{"name":"c","image":"i"}]}}`, 403, "can only create mirror pods")
	r.expect(n2, "PATCH", "/api/v1/nodes/n1", `{"metadata":{"labels":{"a":"b"}}}`, 403, `node \"n2\" is not allowed to modify node \"n1\"`)
	r.expect(n1, "PATCH", "/api/v1/nodes/n1", `{"spec":{"taints":[]}}`, 403, "is not allowed to modify taints")
	r.must(ns+"/serviceaccounts", `{"metadata":{"name":"robot"}}`)
	r.expect(n1, "POST", ns+"/serviceaccounts/robot/token", `{"spec":{}}`, 403, "no relationship found between node 'n1' and this object")
	r.must(ns+"/pods", `{"metadata":{"name":"r"},"spec":{"nodeName":"n1","serviceAccountName":"robot","containers":[{"name":"c","image":"i"}],`+
		`"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}]}}`)
	r.eventually(n1, ns+"/serviceaccounts/robot", 200)
	r.expect(n1, "POST", ns+"/serviceaccounts/robot/token", `{"spec":{}}`, 403, "node requested token not bound to a pod")
	pod := r.do("root", "GET", ns+"/pods/r", "").Object()
	r.expect(n1, "POST", ns+"/serviceaccounts/robot/token", `{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"r","uid":"`+pod.UID()+`"}}}`, 201, `"token":"`)
	r.expect(n2, "POST", ns+"/serviceaccounts/robot/token", `{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"r","uid":"`+pod.UID()+`"}}}`, 403)

	r.expect(n1, "GET", ns+"/secrets", "", 403)
	r.expect(n1, "GET", ns+"/secrets?fieldSelector=metadata.name%3Ds", "", 200, `"name":"s"`)
	r.expect(n2, "GET", ns+"/secrets/s", "", 403)
	r.expect(n2, "GET", ns+"/pods/p", "", 403)
	r.expect(n1, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", "", 200, `"name":"p"`)
	r.expect(n2, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", "", 403, "can only list/watch pods with spec.nodeName field selector")
	r.expect(n2, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2&fieldSelector=spec.nodeName%3Dn1", "", 200, `"items":[]`)
	r.expect(n2, "GET", "/api/v1/pods?fieldSelector=spec.nodeName!%3Dn2", "", 403)
	r.expect(n1, "POST", reviewPath+"/selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`, 201, `"evaluationError":"node authorizer does not support user rule resolution"`, `"incomplete":true`)
	r.expect("root", "POST", reviewPath+"/subjectaccessreviews", `{"spec":{"user":"system:node:n1","groups":["system:nodes"],"resourceAttributes":{"verb":"list","resource":"pods","fieldSelector":{"requirements":[{"key":"spec.nodeName","operator":"In","values":["n1"]}]}}}}`, 201, `"status":{"allowed":true}`)

	r.expect("root", "DELETE", ns+"/pods/p?gracePeriodSeconds=0", "", 200)
	r.eventually(n1, ns+"/secrets/s", 403)
}
