package controllers

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// ClusterInfo keeps the ConfigMap cluster-info, from which a client that joins learns where the server is and which CA to
// trust. Everybody may read it, so it holds nothing else. What somebody else has written there stays: who puts a load
// balancer in front of the server knows better where it is.
type ClusterInfo struct {
	*keptConfigMap
	kubeconfig func() []byte
}

// NewClusterInfo returns the controller. kubeconfig is the client configuration as it is to be
// now; Publish is to be called when it changes.
func NewClusterInfo(env *Env, kubeconfig func() []byte) *ClusterInfo {
	c := &ClusterInfo{kubeconfig: kubeconfig}
	c.keptConfigMap = newKeptConfigMap(env, env.PublicNamespace(), clusterInfo, c.correct)
	return c
}

// Publish brings the ConfigMap up to date. It returns at once.
func (c *ClusterInfo) Publish() { c.Add(c.key) }

// correct writes the configuration where there is none, or one that this server has written before.
func (c *ClusterInfo) correct(object tree.Tree) tree.Tree {
	want := string(c.kubeconfig())
	is, there := object.Object("data")[signedKey]
	if there && (is == want || !c.owns(object)) {
		return nil
	}
	return tree.Tree{signedKey: want}
}

// owns tells whether the configuration in the ConfigMap was written by this controller.
func (c *ClusterInfo) owns(object tree.Tree) bool {
	for _, entry := range object.Object("metadata").Objects("managedFields") {
		if entry.String("manager") == c.manager && strings.Contains(entry.String("fieldsV1"), `"f:`+signedKey+`"`) {
			return true
		}
	}
	return false
}
