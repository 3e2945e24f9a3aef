package flowcontrol

import (
	"hash/maphash"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

var (
	schemasResource = meta.GroupResource{Group: "flowcontrol.apiserver.platform.io", Resource: "flowschemas"}
	levelsResource  = meta.GroupResource{Group: "flowcontrol.apiserver.platform.io", Resource: "prioritylevelconfigurations"}
)

// A levelSpec is a parsed PriorityLevelConfiguration. If queues is 0, requests are rejected when no
// seat is free.
type levelSpec struct {
	name, uid                     string
	exempt                        bool
	shares, lendable              int // lendable and borrowing are percentages
	borrowing                     int // -1 means unlimited
	queues, handSize, queueLength int
}

// parseLevel parses the valid spec of a level. The settings are in the field limited or exempt,
// depending on the type. Both fields contain the shares and the lendable percentage.
func parseLevel(name, uid string, spec tree.Tree) levelSpec {
	l := levelSpec{name: name, uid: uid, exempt: spec.String("type") == "Exempt", borrowing: -1}
	body := spec.Object("limited")
	if l.exempt {
		body = spec.Object("exempt")
	}
	l.shares, l.lendable = number(body, "nominalConcurrencyShares"), number(body, "lendablePercent")
	if body.Has("borrowingLimitPercent") {
		l.borrowing = number(body, "borrowingLimitPercent")
	}
	if response := body.Object("limitResponse"); response.String("type") == "Queue" {
		q := response.Object("queuing")
		l.queues, l.handSize, l.queueLength = number(q, "queues"), number(q, "handSize"), number(q, "queueLengthLimit")
	}
	return l
}

func number(t tree.Tree, field string) int {
	n, _ := t.Int(field)
	return int(n)
}

// A distinguisher determines how the requests of a schema are divided into flows.
type distinguisher uint8

const (
	byNothing distinguisher = iota
	byUser
	byNamespace
)

type schema struct {
	name, uid, level string
	precedence       int
	distinguisher    distinguisher
	rules            []rule
	hash             uint64 // hash of the schema name
}

type rule struct {
	subjects  []subject
	resources []resourceRule
	paths     []pathRule
}

type subject struct {
	kind subjectKind
	name string
}

type subjectKind uint8

const (
	subjectNobody subjectKind = iota
	subjectEverybody
	subjectUser
	subjectGroup
	subjectAccounts
)

// hashSeed is random, so that clients cannot choose names that share another flow's queues.
var hashSeed = maphash.MakeSeed()

func parseSchema(name, uid string, spec tree.Tree) *schema {
	s := &schema{
		name: name, uid: uid, level: spec.Object("priorityLevelConfiguration").String("name"),
		precedence: number(spec, "matchingPrecedence"), hash: maphash.String(hashSeed, name),
	}
	switch spec.Object("distinguisherMethod").String("type") {
	case "ByUser":
		s.distinguisher = byUser
	case "ByNamespace":
		s.distinguisher = byNamespace
	}
	for _, r := range spec.Objects("rules") {
		s.rules = append(s.rules, parseRule(r))
	}
	return s
}

func parseRule(t tree.Tree) (r rule) {
	for _, s := range t.Objects("subjects") {
		r.subjects = append(r.subjects, parseSubject(s))
	}
	for _, one := range t.Objects("resourceRules") {
		r.resources = append(r.resources, resourceRule{
			verbs: verbsOf(one.Strings("verbs")), groups: setOf(one.Strings("apiGroups")), resources: setOf(one.Strings("resources")),
			namespaces: setOf(one.Strings("namespaces")), cluster: one.Bool("clusterScope"),
		})
	}
	for _, one := range t.Objects("nonResourceRules") {
		r.paths = append(r.paths, pathRule{verbsOf(one.Strings("verbs")), setOf(one.Strings("nonResourceURLs"))})
	}
	return r
}

const accountPrefix = "system:serviceaccount:"

// parseSubject parses a subject. A service account becomes its user name, and "*" as a user or
// group becomes all users. Unknown kinds match nothing.
func parseSubject(t tree.Tree) subject {
	var s subject
	switch t.String("kind") {
	case "User":
		s = subject{subjectUser, t.Object("user").String("name")}
	case "Group":
		s = subject{subjectGroup, t.Object("group").String("name")}
	case "ServiceAccount":
		account := t.Object("serviceAccount")
		if account.String("name") == "*" {
			return subject{subjectAccounts, account.String("namespace")}
		}
		return subject{subjectUser, accountPrefix + account.String("namespace") + ":" + account.String("name")}
	}
	if s.name == "*" {
		return subject{kind: subjectEverybody}
	}
	return s
}

func parseObject[T any](o *policy.Object, parse func(name, uid string, spec tree.Tree) T) T {
	return parse(o.Key.Name, o.Meta.UID, o.Tree.Object("spec"))
}
