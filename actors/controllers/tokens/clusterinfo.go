package tokens

import (
	"strings"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ClusterInfo maintains the ConfigMap cluster-info, from which joining clients learn the server's
// address and CA. The ConfigMap is world-readable, so it contains nothing else. Values written by
// other clients, such as a load balancer's address, are kept.
type ClusterInfo struct {
	*keptConfigMap
	kubeconfig func() []byte
}

// NewClusterInfo returns a new ClusterInfo. kubeconfig returns the current client configuration.
// The caller must call Publish when the configuration changes.
func NewClusterInfo(env *reconcile.Env, kubeconfig func() []byte) *ClusterInfo {
	c := &ClusterInfo{kubeconfig: kubeconfig}
	c.keptConfigMap = newKeptConfigMap(env, env.PublicNamespace(), clusterInfo, c.correct)
	return c
}

// Publish schedules an update of the ConfigMap and returns immediately.
func (c *ClusterInfo) Publish() { c.Add(c.key) }

func (c *ClusterInfo) correct(object tree.Tree) tree.Tree {
	want := string(c.kubeconfig())
	is, there := object.Object("data")[signedKey]
	if there && (is == want || !c.owns(object)) {
		return nil
	}
	return tree.Tree{signedKey: want}
}

func (c *ClusterInfo) owns(object tree.Tree) bool {
	for _, entry := range object.Object("metadata").Objects("managedFields") {
		if entry.String("manager") == c.manager && strings.Contains(entry.String("fieldsV1"), `"f:`+signedKey+`"`) {
			return true
		}
	}
	return false
}
