package plugins

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/authz"
)

// ClaimStatus returns the plugin that checks permissions for ResourceClaim status updates. Changing
// the allocation requires permission on resourceclaims/binding. Changing device statuses requires
// permission on resourceclaims/driver, for each driver.
func ClaimStatus(authorizer authz.Authorizer, naming *meta.Naming) admission.Registration {
	return admission.Register("ClaimStatus", claimStatus{authorizer, naming.Translate("authentication.platform.io/node-name")})
}

type claimStatus struct {
	authorizer authz.Authorizer
	nodeName   string // key of the extra attribute with the user's node
}

func (claimStatus) Handles(a *request.Attributes) bool { return a.User != nil }

func (p claimStatus) Validate(a *request.Attributes) error {
	var causes []meta.Cause
	check := func(field, changed, resource, namespace, name, printed string, verbs ...string) {
		denial := ""
		for i, verb := range verbs {
			wanted := authz.Attributes{
				User: a.User, Verb: verb, ResourceRequest: true, Group: a.Kind.Group, Version: a.Kind.Version,
				Resource: a.Kind.Resource, Subresource: resource, Namespace: namespace, Name: name,
			}
			decision, reason := p.authorizer.Authorize(wanted)
			if decision == authz.Allow {
				return
			}
			if i == 0 {
				denial = wanted.ForbiddenMessage(reason)
			}
		}
		causes = append(causes, meta.Cause{Type: meta.CauseForbidden, Field: "status." + field, Message: fmt.Sprintf(
			"Forbidden: changing %s requires resource=%q, verb=%q permission: %s", changed, a.Kind.Resource+"/"+resource, printed, denial)})
	}
	old, status, verb := a.Old.Object("status"), a.New.Object("status"), "patch"
	if request.Is[request.Update](a.Mutation) {
		verb = "update"
	}
	if !tree.SemanticEqual(old["allocation"], status["allocation"]) || !tree.SemanticEqual(old["reservedFor"], status["reservedFor"]) {
		check("allocation", "status.allocation or status.reservedFor", "binding", "", "", verb, verb)
	}
	if allocation := status.Object("allocation"); allocation != nil {
		verbs := []string{"arbitrary-node:" + verb}
		if node := a.User.Extra[p.nodeName]; len(node) == 1 && strings.HasPrefix(a.User.Name, "system:serviceaccount:") && isOnNode(allocation, node[0]) {
			verbs = []string{"associated-node:" + verb, verbs[0]}
		}
		for _, driver := range changedDrivers(old, status) {
			check("devices", "status.devices", "driver", a.Key.Namespace, driver, fmt.Sprint(verbs), verbs...)
		}
	}
	if causes == nil {
		return nil
	}
	return a.Invalid(causes)
}

func isOnNode(allocation tree.Tree, node string) bool {
	field := tree.Tree{"key": "metadata.name", "operator": "In", "values": []any{node}}
	return tree.SemanticEqual(allocation["nodeSelector"], tree.Tree{"nodeSelectorTerms": []any{tree.Tree{"matchFields": []any{field}}}})
}

func changedDrivers(old, wanted tree.Tree) []string {
	was, now, drivers := deviceStatuses(old), deviceStatuses(wanted), map[string]bool{}
	for _, devices := range []map[string]tree.Tree{was, now} {
		for name, device := range devices {
			if !tree.SemanticEqual(was[name], now[name]) {
				drivers[device.String("driver")] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(drivers))
}

func deviceStatuses(status tree.Tree) map[string]tree.Tree {
	all := map[string]tree.Tree{}
	for _, d := range status.Objects("devices") {
		all[fmt.Sprint(d["driver"], "/", d["pool"], "/", d["device"], "/", d["shareID"])] = d
	}
	return all
}
