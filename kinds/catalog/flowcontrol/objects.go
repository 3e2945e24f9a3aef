package flowcontrol

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Names of mandatory objects: each is a flow schema and its priority level.
const (
	Exempt   = "exempt"
	CatchAll = "catch-all"
)

// AutoUpdateAnnotation, in platform form, says whether the server keeps the spec of an object as it is here.
const AutoUpdateAnnotation = "apf.platform.io/autoupdate-spec"

// An Object is a flow schema or a priority level that the server maintains. Its spec is shared and must not be
// changed.
type Object struct {
	Name      string
	Mandatory bool // its spec is fixed
	Spec      tree.Tree
}

// PriorityLevels are those that the server maintains. Shares are relative to the sum over all levels; what a level
// lends is a percentage of what its shares give it.
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

// limited is the spec of a level with so many shares, of which it lends so many percent.
func limited(shares, lendable int64, response tree.Tree) tree.Tree {
	return tree.Tree{"type": "Limited", "limited": tree.Tree{
		"nominalConcurrencyShares": shares, "lendablePercent": lendable, "limitResponse": response,
	}}
}

// queues is the response of a level that lets requests wait, at most 50 in each queue. handSize is how many queues a
// flow is dealt.
func queues(number, handSize int64) tree.Tree {
	return tree.Tree{"type": "Queue", "queuing": tree.Tree{"queues": number, "handSize": handSize, "queueLengthLimit": int64(50)}}
}

// Values of distinguisherMethod.type.
const (
	byUser      = "ByUser"
	byNamespace = "ByNamespace"
)

// FlowSchemas are those that the server maintains, under the names of a profile. The schema with the smallest
// precedence that matches decides, so the order in the list means nothing.
func FlowSchemas(n *meta.Naming) []Object {
	everybody := groups("system:unauthenticated", "system:authenticated")
	manager, scheduler := users(n.Translate("system:platform-controller-manager")), users(n.Translate("system:platform-scheduler"))
	accounts := []any{tree.Tree{"kind": "ServiceAccount", "serviceAccount": tree.Tree{"namespace": n.SystemNamespace(), "name": "*"}}}
	leases := n.Group("coordination")
	nodes := groups("system:nodes")
	return []Object{
		{Exempt, true, schema(Exempt, 1, "", everything(groups("system:masters")))},
		{CatchAll, true, schema(CatchAll, 10000, byUser, everything(everybody))},
		{"system-nodes", false, schema("system", 500, byUser, everything(nodes))},
		{"system-node-high", false, schema("node-high", 400, byUser, tree.Tree{"subjects": nodes, "resourceRules": []any{
			resources("*", "", true, "nodes", "nodes/status"), resources("*", leases, false, "leases"),
		}})},
		{"probes", false, schema(Exempt, 2, "", tree.Tree{"subjects": everybody, "nonResourceRules": []any{
			tree.Tree{"verbs": []any{"get"}, "nonResourceURLs": []any{"/healthz", "/readyz", "/livez"}},
		}})},
		{"system-leader-election", false, schema("leader-election", 100, byUser, tree.Tree{
			"subjects": slices.Concat(manager, scheduler, accounts), "resourceRules": []any{leaderElection(leases)},
		})},
		{n.Translate("platform-controller-manager"), false, schema("workload-high", 800, byNamespace, everything(manager))},
		{n.Translate("platform-scheduler"), false, schema("workload-high", 800, byNamespace, everything(scheduler))},
		{n.Translate("platform-system-service-accounts"), false, schema("workload-high", 900, byNamespace, everything(accounts))},
		{"service-accounts", false, schema("workload-low", 9000, byUser, everything(groups("system:serviceaccounts")))},
		{"global-default", false, schema("global-default", 9900, byUser, everything(everybody))},
	}
}

// schema is the spec of a schema with one rule. Without a distinguisher all of its requests are one flow.
func schema(level string, precedence int64, distinguisher string, rule tree.Tree) tree.Tree {
	spec := tree.Tree{"priorityLevelConfiguration": tree.Tree{"name": level}, "matchingPrecedence": precedence, "rules": []any{rule}}
	if distinguisher != "" {
		spec["distinguisherMethod"] = tree.Tree{"type": distinguisher}
	}
	return spec
}

// everything is the rule that matches all that some subjects ask for.
func everything(subjects []any) tree.Tree {
	return tree.Tree{
		"subjects":         subjects,
		"resourceRules":    []any{resources("*", "*", true, "*")},
		"nonResourceRules": []any{tree.Tree{"verbs": []any{"*"}, "nonResourceURLs": []any{"*"}}},
	}
}

// resources is a rule about resources of one group, in every namespace and, if so, beyond them.
func resources(verb, group string, cluster bool, names ...string) tree.Tree {
	rule := tree.Tree{"verbs": []any{verb}, "apiGroups": []any{group}, "resources": tree.ListOf(names), "namespaces": []any{"*"}}
	if cluster {
		rule["clusterScope"] = true
	}
	return rule
}

// leaderElection is how leaders hold on to their leases.
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
