package flowcontrol

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The names of the mandatory objects. Each names a FlowSchema and its priority level.
const (
	Exempt   = "exempt"
	CatchAll = "catch-all"
)

// AutoUpdateAnnotation is the annotation that controls whether the server resets an object's spec.
// The name belongs to the platform naming profile and must be translated for other profiles.
const AutoUpdateAnnotation = "apf.platform.io/autoupdate-spec"

// An Object is a FlowSchema or priority level that the server maintains. Its spec is shared and
// must not be modified.
type Object struct {
	Name      string
	Mandatory bool // the spec is fixed
	Spec      tree.Tree
}

// PriorityLevels returns the priority levels that the server maintains. A level's shares are
// relative to the sum over all levels. lendablePercent is relative to the concurrency that a level
// gets from its shares.
func PriorityLevels() []Object {
	return []Object{
		{CatchAll, true, limited(5, 0, tree.Tree{"type": "Reject"})},
		{Exempt, true, tree.Tree{"type": "Exempt", "exempt": tree.Tree{"nominalConcurrencyShares": int64(0), "lendablePercent": int64(0)}}},
		{"system", false, limited(30, 33, queues(64, 6))},
		{"node-high", false, limited(40, 25, queues(64, 6))},
		{"leader-election", false, limited(10, 0, queues(16, 4))},
		{"workload-high", false, limited(40, 50, queues(128, 6))},
		{"workload-low", false, limited(100, 90, queues(128, 6))},
		{"global-default", false, limited(20, 50, queues(128, 6))},
	}
}

func limited(shares, lendable int64, response tree.Tree) tree.Tree {
	return tree.Tree{"type": "Limited", "limited": tree.Tree{
		"nominalConcurrencyShares": shares, "lendablePercent": lendable, "limitResponse": response,
	}}
}

func queues(number, handSize int64) tree.Tree {
	return tree.Tree{"type": "Queue", "queuing": tree.Tree{"queues": number, "handSize": handSize, "queueLengthLimit": int64(50)}}
}

const (
	byUser      = "ByUser"
	byNamespace = "ByNamespace"
)

// FlowSchemas returns the FlowSchemas that the server maintains, for a naming profile. Their order
// is irrelevant, because matching uses their precedence.
func FlowSchemas(n *meta.Naming) []Object {
	everybody := groups("system:unauthenticated", "system:authenticated")
	manager, scheduler := users(n.Translate("system:platform-controller-manager")), users(n.Translate("system:platform-scheduler"))
	accounts := []any{tree.Tree{"kind": "ServiceAccount", "serviceAccount": tree.Tree{"namespace": n.SystemNamespace(), "name": "*"}}}
	leases := n.Group("coordination")
	nodes := groups("system:nodes")
	return []Object{
		{Exempt, true, flowSchema(Exempt, 1, "", everything(groups("system:masters")))},
		{CatchAll, true, flowSchema(CatchAll, 10000, byUser, everything(everybody))},
		{"system-nodes", false, flowSchema("system", 500, byUser, everything(nodes))},
		{"system-node-high", false, flowSchema("node-high", 400, byUser, tree.Tree{"subjects": nodes, "resourceRules": []any{
			resources("*", "", true, "nodes", "nodes/status"), resources("*", leases, false, "leases"),
		}})},
		{"probes", false, flowSchema(Exempt, 2, "", tree.Tree{"subjects": everybody, "nonResourceRules": []any{
			tree.Tree{"verbs": []any{"get"}, "nonResourceURLs": []any{"/healthz", "/readyz", "/livez"}},
		}})},
		{"system-leader-election", false, flowSchema("leader-election", 100, byUser, tree.Tree{
			"subjects": slices.Concat(manager, scheduler, accounts), "resourceRules": []any{leaderElection(leases)},
		})},
		{n.Translate("platform-controller-manager"), false, flowSchema("workload-high", 800, byNamespace, everything(manager))},
		{n.Translate("platform-scheduler"), false, flowSchema("workload-high", 800, byNamespace, everything(scheduler))},
		{n.Translate("platform-system-service-accounts"), false, flowSchema("workload-high", 900, byNamespace, everything(accounts))},
		{"service-accounts", false, flowSchema("workload-low", 9000, byUser, everything(groups("system:serviceaccounts")))},
		{"global-default", false, flowSchema("global-default", 9900, byUser, everything(everybody))},
	}
}

func flowSchema(level string, precedence int64, distinguisher string, rule tree.Tree) tree.Tree {
	spec := tree.Tree{"priorityLevelConfiguration": tree.Tree{"name": level}, "matchingPrecedence": precedence, "rules": []any{rule}}
	if distinguisher != "" {
		spec["distinguisherMethod"] = tree.Tree{"type": distinguisher}
	}
	return spec
}

func everything(subjects []any) tree.Tree {
	return tree.Tree{
		"subjects":         subjects,
		"resourceRules":    []any{resources("*", "*", true, "*")},
		"nonResourceRules": []any{tree.Tree{"verbs": []any{"*"}, "nonResourceURLs": []any{"*"}}},
	}
}

func resources(verb, group string, cluster bool, names ...string) tree.Tree {
	rule := tree.Tree{"verbs": []any{verb}, "apiGroups": []any{group}, "resources": tree.ListOf(names), "namespaces": []any{"*"}}
	if cluster {
		rule["clusterScope"] = true
	}
	return rule
}

func leaderElection(group string) tree.Tree {
	rule := resources("get", group, false, "leases")
	rule["verbs"] = []any{"get", "create", "update"}
	return rule
}

func groups(names ...string) []any { return subjects("Group", "group", names) }

func users(names ...string) []any { return subjects("User", "user", names) }

func subjects(kind, field string, names []string) []any {
	var all []any
	for _, name := range names {
		all = append(all, tree.Tree{"kind": kind, field: tree.Tree{"name": name}})
	}
	return all
}
