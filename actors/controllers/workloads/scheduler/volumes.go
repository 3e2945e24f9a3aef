package scheduler

import (
	"context"
	"fmt"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

type volumes struct {
	nodes   [][]tree.Tree  // node selector terms; a node must match one of each element
	unbound []*meta.Object // claims for which the binder waits until a node is selected
	pending bool           // claims with a selected node are not bound yet
	reason  string         // why the Pod cannot get a node yet
}

// volumesOf reads the claims of a Pod. A bound volume may be reachable only from some nodes, and a
// claim for which a node was selected earlier keeps that node until it is bound or its provisioner
// gives up.
func (s *Controller) volumesOf(ctx context.Context, p *cluster.Pod) (v volumes, err error) {
	for _, c := range p.Claims {
		object, claim, err := s.claims.ReadNamed(ctx, p.Key.Namespace, c.Name)
		if err != nil {
			return v, err
		}
		name := claim.Object("spec").String("volumeName")
		selected := claim.Object("metadata", "annotations").String(s.selectedNode)
		switch {
		case object == nil:
			v.reason = fmt.Sprintf("persistentvolumeclaim %q not found", c.Name)
		case object.Meta.Terminating:
			v.reason = fmt.Sprintf("persistentvolumeclaim %q is being deleted", c.Name)
		case name != "":
			_, volume, err := s.volumes.ReadNamed(ctx, "", name)
			if err != nil {
				return v, err
			}
			if required := volume.Object("spec", "nodeAffinity", "required"); required != nil {
				v.nodes = append(v.nodes, required.Objects("nodeSelectorTerms"))
			}
		case selected != "":
			v.pending = true
			v.nodes = append(v.nodes, []tree.Tree{{"matchFields": []any{tree.Tree{"key": "metadata.name", "operator": "In", "values": []any{selected}}}}})
		default:
			_, class, err := s.classes.ReadNamed(ctx, "", claim.Object("spec").String("storageClassName"))
			if err != nil {
				return v, err
			}
			if class.String("volumeBindingMode") == "WaitForFirstConsumer" {
				v.unbound = append(v.unbound, object)
			} else {
				v.reason = "pod has unbound immediate PersistentVolumeClaims"
			}
		}
	}
	return v, nil
}

func (v volumes) reachableFrom(n *cluster.Node) bool {
	for _, terms := range v.nodes {
		if !n.MatchesTerms(terms) {
			return false
		}
	}
	return true
}

// bound reports whether all claims are bound, so that the Pod can be.
func (v volumes) bound() bool { return len(v.unbound) == 0 && !v.pending }

// selectNode lets the binder provision volumes on the node.
func (s *Controller) selectNode(ctx context.Context, v volumes, node string) error {
	for _, claim := range v.unbound {
		if err := s.claims.Patch(ctx, claim, "", tree.Tree{"metadata": tree.Tree{"annotations": tree.Tree{s.selectedNode: node}}}); err != nil {
			return err
		}
	}
	return nil
}
