package policy

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// What a node may write, with rights that would let it write more.
func TestNodeRestriction(t *testing.T) {
	const n1, n2 = "system:node:n1", "system:node:n2"
	change := func(c *daemon.Config) {
		c.Admission.Enable, c.Admission.Disable = []string{"NodeRestriction"}, []string{"ServiceAccount"} // which refuses some of it first
	}
	serveUsersInProfiles(t, change, []string{n1 + "=system:nodes", n2 + "=system:nodes"}, func(c *userCluster) {
		c.bind("all-n1", n1, `{"apiGroups":["*"],"resources":["*"],"verbs":["get","create","update","patch","delete"]}`)
		c.bind("all-n2", n2, `{"apiGroups":["*"],"resources":["*"],"verbs":["get","create","update","patch","delete"]}`)
		c.testNode(n1, n2)
		c.testMirrorPod(n1)
		c.testNodeClaim(n1)
		c.testNodeOwnObjects(n1, n2)
		c.testAudience(n1)
	})
}

const (
	nodes = "/api/v1/nodes"
)

func (c *userCluster) testNode(n1, n2 string) {
	c.expect(n1, "POST", nodes, `{"metadata":{"name":"n2"}}`, 403, `node "n1" is not allowed to modify node "n2"`)
	c.expect(n1, "POST", nodes, `{"metadata":{"name":"n1","labels":{"node-restriction.platform.io/x":"y"}}}`, 403,
		`node "n1" is not allowed to set the following labels: node-restriction.platform.io/x`)
	c.expect(n1, "POST", nodes, `{"metadata":{"name":"n1","labels":{"platform.io/hostname":"n1","topology.platform.io/zone":"z","node.platform.io/x":"y"}}}`, 201)
	c.expect(n2, "POST", nodes, `{"metadata":{"name":"n2"}}`, 201)
	c.expect(n1, "PATCH", nodes+"/n1", `{"metadata":{"labels":{"platform.io/role":"x"}}}`, 403, `is not allowed to modify labels: platform.io/role`)
	c.expect(n1, "PATCH", nodes+"/n1", `{"metadata":{"labels":{"example.com/x":"y"}}}`, 200)
	c.expect(n1, "PATCH", nodes+"/n1", `{"spec":{"taints":null}}`, 403, `node "n1" is not allowed to modify taints`)
	c.expect(n1, "PATCH", nodes+"/n1", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n2","uid":"1"}]}}`, 403, `node "n1" is not allowed to modify ownerReferences`)
	c.expect(n1, "PATCH", nodes+"/n1/status", `{"status":{"phase":"Running"}}`, 200)
	c.expect(n2, "PATCH", nodes+"/n1/status", `{"status":{"phase":"Running"}}`, 403, `node "n2" is not allowed to modify node "n1"`)
}

func (c *userCluster) testMirrorPod(n1 string) {
	uid := c.expect("root", "GET", nodes+"/n1", "", 200).Object().UID()
	mirror := func(annotation, uid, more string) string {
		return `{"metadata":{"name":"m","annotations":{"` + annotation + `":"x"},"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":"` + uid + `","controller":true}]},` +
			`"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]` + more + `}}`
	}
	const annotation = "platform.io/config.mirror"
	c.expect(n1, "POST", pods, mirror("example.com/x", uid, ""), 403, `pod does not have "platform.io/config.mirror" annotation, node "n1" can only create mirror pods`)
	c.expect(n1, "POST", pods, mirror(annotation, "old", ""), 403, "node n1 UID mismatch: expected old got "+uid)
	c.expect(n1, "POST", pods, mirror(annotation, uid, `,"volumes":[{"name":"v","csi":{"driver":"d"}}]`), 403, `node "n1" can not create pods that reference csidrivers (via CSI volumes)`)
	c.expect(n1, "POST", pods, mirror(annotation, uid, `,"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]`), 403,
		`node "n1" can not create pods that reference serviceaccounts (via projected volumes)`)
	c.expect(n1, "POST", pods, mirror(annotation, uid, `,"volumes":[{"name":"v","hostPath":{"path":"/"}}]`), 201)
	c.expect(n1, "PATCH", pods+"/m", `{"metadata":{"labels":{"a":"b"}}}`, 403, `unexpected operation "UPDATE", node "n1" can only create and delete mirror pods`)
	c.expect(n1, "PATCH", pods+"/m/status", `{"status":{"phase":"Running"}}`, 200)
	c.expect(n1, "PATCH", pods+"/m/status", `{"status":{"extendedResourceClaimStatus":{"resourceClaimName":"a","requestMappings":[]}}}`, 403, "cannot update extended resource claim status")
	c.expect(n1, "POST", pods+"/none/eviction", `{"metadata":{"name":"none"}}`, 404)
}

func (c *userCluster) testNodeClaim(n1 string) {
	c.must(claims, claim("c", `,"storageClassName":"x"`))
	c.expect(n1, "PATCH", claims+"/c", `{"metadata":{"labels":{"a":"b"}}}`, 403, "may only update PVC status")
	c.expect(n1, "PATCH", claims+"/c/status", `{"status":{"phase":"Bound"}}`, 403, `node "n1" is not allowed to update fields other than status.quantity and status.conditions: status.phase`)
	c.expect(n1, "PATCH", claims+"/c/status", `{"status":{"capacity":{"storage":"2Gi"},"allocatedResources":{"storage":"2Gi"},"allocatedResourceStatuses":{"storage":"NodeResizeInProgress"},`+
		`"conditions":[{"type":"Resizing","status":"True"}]}}`, 200)
}

func (c *userCluster) testNodeOwnObjects(n1, n2 string) {
	const (
		leases   = "/apis/coordination.platform.io/v1/namespaces/platform-node-lease/leases"
		others   = "/apis/coordination.platform.io/v1/namespaces/default/leases"
		csiNodes = "/apis/storage.platform.io/v1/csinodes"
		slices   = "/apis/resource.platform.io/v1/resourceslices"
	)
	c.expect(n1, "POST", leases, `{"metadata":{"name":"n1"}}`, 201)
	c.expect(n2, "PATCH", leases+"/n1", `{"spec":{"holderIdentity":"x"}}`, 403, "can only access node lease with the same name as the requesting node")
	c.expect(n1, "POST", others, `{"metadata":{"name":"n1"}}`, 403, `can only access leases in the "platform-node-lease" system namespace`)
	c.expect(n1, "POST", csiNodes, `{"metadata":{"name":"n1"},"spec":{"drivers":[]}}`, 201)
	c.expect(n2, "DELETE", csiNodes+"/n1", "", 403, "can only access CSINode with the same name as the requesting node")
	slice := func(node string) string {
		return `{"metadata":{"name":"s"},"spec":{"driver":"d.example.com","pool":{"name":"p","generation":1,"resourceSliceCount":1},"nodeName":"` + node + `"}}`
	}
	c.expect(n1, "POST", slices, slice("n2"), 403, "can only create ResourceSlice with the same NodeName as the requesting node")
	c.expect(n1, "POST", slices, slice("n1"), 201)
	c.expect(n2, "DELETE", slices+"/s", "", 403, "can only delete ResourceSlice with the same NodeName as the requesting node")
	c.expect(n1, "DELETE", slices+"/s", "", 200)
	c.expect(n1, "POST", csrs, pki.SigningRequest(c.t, "n", "platform.io/apiserver-client-node", "system:node:n2", "system:nodes"), 403, "can only create a node CSR with CN=system:node:n1")
	c.expect(n1, "POST", csrs, pki.SigningRequest(c.t, "n", "platform.io/apiserver-client-node", "system:node:n1", "system:nodes"), 201)
}

func (c *userCluster) testAudience(n1 string) {
	const accounts = "/api/v1/namespaces/default/serviceaccounts"
	c.must(accounts, `{"metadata":{"name":"robot"}}`)
	c.must("/apis/storage.platform.io/v1/csidrivers", `{"metadata":{"name":"d.example.com"},"spec":{"tokenRequests":[{"audience":"disks"}]}}`)
	pod := func(name string) client.Object {
		return c.must(pods, `{"metadata":{"name":"`+name+`"},"spec":{"nodeName":"n1","serviceAccountName":"robot","containers":[{"name":"c","image":"i"}],"volumes":[`+
			`{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"serviceAccountToken":{"path":"u","audience":"vault"}}]}},{"name":"w","csi":{"driver":"d.example.com"}}]}}`)
	}
	ref := `"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"p","uid":"` + pod("p").UID() + `"}`
	token := func(audiences string, code int, texts ...string) {
		c.t.Helper()
		c.expect(n1, "POST", accounts+"/robot/token", `{"spec":{`+audiences+ref+`}}`, code, texts...)
	}
	token("", 201)
	token(`"audiences":["vault"],`, 201)
	token(`"audiences":["disks"],`, 201)
	token(`"audiences":["vault","disks"],`, 403, `serviceaccounts "robot" is forbidden: node may only request 0 or 1 audiences`)
	token(`"audiences":["bank"],`, 403, `audience "bank" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience`)
	c.bind("bank", n1, `{"apiGroups":[""],"resources":["bank"],"resourceNames":["robot"],"verbs":["request-serviceaccounts-token-audience"]}`)
	token(`"audiences":["bank"],`, 201)
	c.must(pods, `{"metadata":{"name":"far"},"spec":{"nodeName":"n2","serviceAccountName":"robot","containers":[{"name":"c","image":"i"}]}}`)
	far := c.expect("root", "GET", pods+"/far", "", 200).Object().UID()
	c.expect(n1, "POST", accounts+"/robot/token", `{"spec":{"boundObjectRef":{"apiVersion":"v1","kind":"Pod","name":"far","uid":"`+far+`"}}}`, 403,
		"node requested token bound to a pod scheduled on a different node")
	c.expect(n1, "POST", accounts+"/robot/token", `{"spec":{}}`, 403, "node requested token not bound to a pod")
}
