package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/rbac"
	"github.com/troupe-api/troupe/test/client"
)

// A memoryStore is a policy.Objects in memory. put returns after all handlers have run.
type memoryStore struct {
	mu       sync.Mutex // guards the fields below
	objects  map[meta.Key]*policy.Object
	handlers map[meta.GroupResource]func(policy.Change)
}

func newMemoryStore() *memoryStore {
	return &memoryStore{objects: map[meta.Key]*policy.Object{}, handlers: map[meta.GroupResource]func(policy.Change){}}
}

func (s *memoryStore) Get(r meta.GroupResource, namespace, name string) *policy.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[meta.Key{GroupResource: r, Namespace: namespace, Name: name}]
}

func (s *memoryStore) Inform(_ context.Context, r meta.GroupResource, onChange func(policy.Change)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[r] = onChange
	return nil
}

// put stores an object of a public Go type, or deletes the object at key if it is nil.
func (s *memoryStore) put(t testing.TB, key meta.Key, object any) {
	t.Helper()
	change := policy.Change{Object: &policy.Object{Key: key}, Deleted: object == nil}
	if !change.Deleted {
		change.Tree = treeOf(t, object)
		change.Meta.UID = change.Tree.Object("metadata").String("uid")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[key] = change.Object; change.Deleted {
		delete(s.objects, key)
	}
	if handle := s.handlers[key.GroupResource]; handle != nil {
		handle(change)
	}
}

func treeOf(t testing.TB, object any) tree.Tree {
	t.Helper()
	decoded := tree.Tree{}
	client.Decode(t, client.Encode(t, object), &decoded)
	return decoded
}

const rbacGroupName = "rbac.authorization.platform.io"

// roleKey returns the key of a Role or ClusterRole, or of a binding if bindings is set.
func roleKey(namespace, name string, bindings bool) meta.Key {
	resource := "roles"
	if bindings {
		resource = "rolebindings"
	}
	if namespace == "" {
		resource = "cluster" + resource
	}
	return meta.Key{GroupResource: meta.GroupResource{Group: rbacGroupName, Resource: resource}, Namespace: namespace, Name: name}
}

// A roleOracle decides by the published semantics of RBAC. It goes through all rules of all
// bindings. Keys without a namespace are those of ClusterRoles and ClusterRoleBindings.
type roleOracle struct {
	roles    map[meta.Key]rbacv1.ClusterRole
	bindings map[meta.Key]rbacv1.RoleBinding
}

func newRoleOracle() *roleOracle {
	return &roleOracle{map[meta.Key]rbacv1.ClusterRole{}, map[meta.Key]rbacv1.RoleBinding{}}
}

// rulesOf returns the rules of a role. Those of an aggregating role are the rules of all roles that
// its selectors match.
func (o *roleOracle) rulesOf(key meta.Key) []rbacv1.PolicyRule {
	role := o.roles[key]
	if role.AggregationRule == nil {
		return role.Rules
	}
	var all []rbacv1.PolicyRule
	for other, candidate := range o.roles {
		if other != key && other.Namespace == "" && slices.ContainsFunc(role.AggregationRule.ClusterRoleSelectors, func(s metav1.LabelSelector) bool {
			selector, err := metav1.LabelSelectorAsSelector(&s)
			return err == nil && selector.Matches(labelSet(candidate.Labels))
		}) {
			all = append(all, o.rulesOf(other)...)
		}
	}
	return all
}

type labelSet map[string]string

func (l labelSet) Has(key string) bool              { _, ok := l[key]; return ok }
func (l labelSet) Get(key string) string            { return l[key] }
func (l labelSet) Lookup(key string) (string, bool) { value, ok := l[key]; return value, ok }

// rulesFor returns the rules that a user holds in a namespace, or cluster-wide.
func (o *roleOracle) rulesFor(u *authn.User, namespace string) (all []rbacv1.PolicyRule) {
	for key, b := range o.bindings {
		if (key.Namespace == "" || key.Namespace == namespace) && slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool { return isSubject(s, key.Namespace, u) }) {
			all = append(all, o.rulesOf(o.roleOf(key.Namespace, b.RoleRef))...)
		}
	}
	return all
}

func (o *roleOracle) roleOf(namespace string, ref rbacv1.RoleRef) meta.Key {
	if ref.Kind == "ClusterRole" {
		namespace = ""
	}
	return roleKey(namespace, ref.Name, false)
}

func isSubject(s rbacv1.Subject, namespace string, u *authn.User) bool {
	switch s.Kind {
	case rbacv1.UserKind:
		return s.Name == u.Name
	case rbacv1.GroupKind:
		return slices.Contains(u.Groups, s.Name)
	}
	if s.Namespace != "" {
		namespace = s.Namespace
	}
	return namespace != "" && u.Name == "system:serviceaccount:"+namespace+":"+s.Name
}

func (o *roleOracle) allows(a authz.Attributes) bool {
	if !a.ResourceRequest {
		a.Namespace = ""
	}
	return slices.ContainsFunc(o.rulesFor(a.User, a.Namespace), func(r rbacv1.PolicyRule) bool { return ruleAllows(r, a) })
}

func ruleAllows(r rbacv1.PolicyRule, a authz.Attributes) bool {
	has := func(list []string, values ...string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return slices.Contains(list, v) })
	}
	if !has(r.Verbs, a.Verb, rbacv1.VerbAll) {
		return false
	}
	if !a.ResourceRequest {
		return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
			prefix, open := strings.CutSuffix(url, "*")
			return url == a.Path || open && strings.HasPrefix(a.Path, prefix)
		})
	}
	resources := []string{rbacv1.ResourceAll, a.Resource}
	if a.Subresource != "" {
		resources = []string{rbacv1.ResourceAll, a.Resource + "/" + a.Subresource, "*/" + a.Subresource}
	}
	return has(r.APIGroups, a.Group, rbacv1.APIGroupAll) && has(r.Resources, resources...) && (len(r.ResourceNames) == 0 || has(r.ResourceNames, a.Name))
}

// mayWriteRole reports whether a user may give a role these rules. name is empty for a create.
func (o *roleOracle) mayWriteRole(u *authn.User, key meta.Key, name string, aggregates bool, rules []rbacv1.PolicyRule) bool {
	if o.allows(authz.Attributes{User: u, Verb: "escalate", ResourceRequest: true, Group: rbacGroupName, Resource: key.Resource, Namespace: key.Namespace, Name: name}) {
		return true
	}
	held := o.rulesFor(u, key.Namespace)
	if aggregates {
		rules = append(slices.Clone(rules),
			rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
			rbacv1.PolicyRule{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}})
	}
	covered, _ := validation.Covers(held, rules)
	return covered
}

// mayBind reports whether a user may write a binding of a role.
func (o *roleOracle) mayBind(u *authn.User, namespace string, ref rbacv1.RoleRef) bool {
	role := o.roleOf(namespace, ref)
	if o.allows(authz.Attributes{User: u, Verb: "bind", ResourceRequest: true, Group: rbacGroupName, Resource: role.Resource, Namespace: namespace, Name: ref.Name}) {
		return true
	}
	if _, exists := o.roles[role]; !exists {
		return false
	}
	covered, _ := validation.Covers(o.rulesFor(u, namespace), o.rulesOf(role))
	return covered
}

// A roleGenerator generates roles, bindings and requests from a small vocabulary, so that many
// requests are allowed.
type roleGenerator struct{ *rand.Rand }

var (
	oracleVerbs     = []string{"get", "list", "create", "update", "delete", "deletecollection", "bind", "escalate"}
	oracleGroups    = []string{"", "apps", "batch", rbacGroupName}
	oracleResources = []string{"pods", "deployments", "jobs", "roles", "clusterroles"}
	oracleSubs      = []string{"status", "scale", "log"}
	oracleNames     = []string{"a", "b", "c", "r0", "r1", "r2"}
	oraclePaths     = []string{"/", "/metrics", "/x", "/x/", "/x/y", "/x/y/z", "/xy"}
	oracleUsers     = []*authn.User{
		{Name: "u0"}, {Name: "u1", Groups: []string{"g0"}}, {Name: "u2", Groups: []string{"g0", "g1"}}, {Name: "g0", Groups: []string{"u0", "g2"}},
		{Name: "system:serviceaccount:n1:s0", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:n1"}},
		{Name: "system:serviceaccount:n2:s0", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:n2"}},
	}
)

func oneOf[T any](g roleGenerator, list []T) T { return list[g.IntN(len(list))] }

// some returns one to four values, or one of the wildcards in a tenth of the calls.
func (g roleGenerator) some(list []string, wildcards ...string) (values []string) {
	if len(wildcards) > 0 && g.IntN(10) == 0 {
		return []string{oneOf(g, wildcards)}
	}
	for range 1 + g.IntN(4) {
		values = append(values, oneOf(g, list))
	}
	return values
}

func (g roleGenerator) rule(cluster bool) rbacv1.PolicyRule {
	r := rbacv1.PolicyRule{Verbs: g.some(oracleVerbs, "*")}
	if cluster && g.IntN(4) == 0 {
		r.NonResourceURLs = g.some(oraclePaths, "*", "/x*", "/x/*", "/x/y*", "/*")
		return r
	}
	r.APIGroups, r.Resources = g.some(oracleGroups, "*"), g.some(oracleResources, "*", "*/*")
	for i := range r.Resources {
		if g.IntN(3) == 0 {
			base, sub := oneOf(g, append(oracleResources, "*")), oneOf(g, append(oracleSubs, "*"))
			r.Resources[i] = base + "/" + sub
		}
	}
	if g.IntN(4) == 0 {
		r.ResourceNames = g.some(oracleNames)
	}
	return r
}

// rules returns rules of a role. Roles with more than four rules are indexed.
func (g roleGenerator) rules(cluster bool) (all []rbacv1.PolicyRule) {
	for range g.IntN(8) {
		all = append(all, g.rule(cluster))
	}
	return all
}

func (g roleGenerator) subjects() (all []rbacv1.Subject) {
	for range 1 + g.IntN(3) {
		switch g.IntN(3) {
		case 0:
			all = append(all, rbacv1.Subject{APIGroup: rbacGroupName, Kind: "User", Name: oneOf(g, oracleUsers).Name})
		case 1:
			all = append(all, rbacv1.Subject{APIGroup: rbacGroupName, Kind: "Group", Name: oneOf(g, []string{"g0", "g1", "g2", "u0", "system:serviceaccounts:n1"})})
		default:
			all = append(all, rbacv1.Subject{Kind: "ServiceAccount", Namespace: oneOf(g, []string{"n1", "n2"}), Name: "s0"})
		}
	}
	return all
}

func (g roleGenerator) binding(namespace string) rbacv1.RoleBinding {
	kind := "ClusterRole"
	if namespace != "" && g.IntN(2) == 0 {
		kind = "Role"
	}
	return rbacv1.RoleBinding{Subjects: g.subjects(), RoleRef: rbacv1.RoleRef{APIGroup: rbacGroupName, Kind: kind, Name: oneOf(g, oracleNames[3:])}}
}

// change adds, replaces or removes a role or a binding of the oracle, and returns its key.
func (g roleGenerator) change(o *roleOracle) meta.Key {
	namespace, remove := oneOf(g, []string{"", "n1", "n2"}), g.IntN(8) == 0
	if g.IntN(2) == 0 {
		key := roleKey(namespace, oneOf(g, oracleNames[3:]), false)
		role := rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Rules: g.rules(namespace == "")}
		if o.roles[key] = role; remove {
			delete(o.roles, key)
		}
		return key
	}
	key := roleKey(namespace, fmt.Sprint("b", g.IntN(4)), true)
	b := g.binding(namespace)
	b.Namespace, b.Name = key.Namespace, key.Name
	if o.bindings[key] = b; remove {
		delete(o.bindings, key)
	}
	return key
}

func (g roleGenerator) request() authz.Attributes {
	a := authz.Attributes{User: oneOf(g, oracleUsers), Verb: oneOf(g, append(oracleVerbs, "patch"))}
	if g.IntN(5) == 0 {
		a.Path = oneOf(g, oraclePaths)
		return a
	}
	a.ResourceRequest, a.Version = true, "v1"
	a.Group, a.Resource, a.Namespace = oneOf(g, oracleGroups), oneOf(g, oracleResources), oneOf(g, []string{"", "n1", "n2"})
	if g.IntN(3) == 0 {
		a.Subresource = oneOf(g, append(oracleSubs, "*"))
	}
	if g.IntN(3) > 0 {
		a.Name = oneOf(g, oracleNames)
	}
	return a
}

// wanted returns rules that a user tries to grant: often a part of those that the user holds.
func (g roleGenerator) wanted(held []rbacv1.PolicyRule, cluster bool) (all []rbacv1.PolicyRule) {
	held = slices.DeleteFunc(held, func(r rbacv1.PolicyRule) bool { return !cluster && len(r.NonResourceURLs) > 0 })
	for range 1 + g.IntN(3) {
		if len(held) == 0 || g.IntN(6) == 0 {
			all = append(all, g.rule(cluster))
			continue
		}
		r := oneOf(g, held)
		for _, list := range []*[]string{&r.Verbs, &r.APIGroups, &r.Resources, &r.ResourceNames, &r.NonResourceURLs} {
			if len(*list) > 1 {
				*list = (*list)[g.IntN(len(*list)):]
			}
		}
		if g.IntN(8) == 0 {
			r.ResourceNames = nil
		}
		if g.IntN(8) == 0 {
			r.Verbs = g.some(oracleVerbs)
		}
		all = append(all, r)
	}
	return all
}

// sortedKeys returns the keys of m in a fixed order, so that a seed gives the same sequence.
func sortedKeys[T any](m map[meta.Key]T) []meta.Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b meta.Key) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// TestRolesAgainstOracle compares decisions and the check for privilege escalation with the
// published semantics, on random roles and bindings that change between the requests.
func TestRolesAgainstOracle(t *testing.T) {
	t.Parallel()
	seed := client.Seed(t, 41)
	asked, allowed, granted, refused := 0, 0, 0, 0
	for round := range client.Rounds(t, 40, 20) {
		g := roleGenerator{rand.New(rand.NewPCG(seed, uint64(round)))}
		o, store := newRoleOracle(), newMemoryStore()
		a, err := rbac.New(t.Context(), store, meta.Platform)
		if err != nil {
			t.Fatal(err)
		}
		escalation := rbac.Escalation(a, a, store).Mutator
		for range 40 {
			switch key := g.change(o); {
			case strings.HasSuffix(key.Resource, "bindings"):
				store.put(t, key, orNil(o.bindings, key))
			default:
				store.put(t, key, orNil(o.roles, key))
			}
			for range 150 {
				q := g.request()
				d, reason := a.Authorize(q)
				if want := o.allows(q); (d == authz.Allow) != want {
					t.Fatalf("%+v of %+v: got %v %q, want it allowed: %t\n%s", q, *q.User, d, reason, want, o)
				} else if want {
					allowed++
				}
				asked++
			}
			for range 5 {
				write, want := g.write(t, o)
				err := escalation.Admit(write)
				if escalation.Handles(write) && (err == nil) != want {
					t.Fatalf("%s of %v by %+v, from %v to %v: got %v, want it allowed: %t\n%s",
						write.Key, write.Operation, *write.User, write.Old, write.New, err, want, o)
				}
				if want {
					granted++
				} else {
					refused++
				}
			}
		}
	}
	if allowed < asked/50 || granted < refused/20 || refused < granted/20 {
		t.Errorf("of %d requests %d are allowed; of %d writes %d", asked, allowed, granted+refused, granted)
	}
	client.Figures(t, "%d requests (%d allowed), %d writes of roles and bindings (%d allowed)", asked, allowed, granted+refused, granted)
}

// orNil returns the object at key, or nil if there is none.
func orNil[T any](m map[meta.Key]T, key meta.Key) any {
	if object, ok := m[key]; ok {
		return object
	}
	return nil
}

// write returns a random write of a role or binding, and whether the oracle allows it.
func (g roleGenerator) write(t *testing.T, o *roleOracle) (*request.Attributes, bool) {
	t.Helper()
	u, namespace, update := oneOf(g, oracleUsers), oneOf(g, []string{"", "n1", "n2"}), g.IntN(2) == 0
	key := roleKey(namespace, oneOf(g, oracleNames[3:]), g.IntN(3) == 0)
	a := &request.Attributes{
		User: u, Key: key, Operation: request.OnCreate, Mutation: &request.Mutation{Change: request.Create{}},
		Kind: &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: rbacGroupName, Version: "v1"}, Resource: key.Resource},
	}
	if update {
		a.Operation, a.Mutation.Change = request.OnUpdate, request.Update{}
	}
	if strings.HasSuffix(key.Resource, "bindings") {
		b := g.binding(namespace)
		if a.New = treeOf(t, b); update {
			b.Subjects = append(b.Subjects, rbacv1.Subject{Kind: "User", Name: "other"})
			a.Old = treeOf(t, b)
		}
		return a, o.mayBind(u, namespace, b.RoleRef)
	}
	name := ""
	role := rbacv1.ClusterRole{Rules: g.wanted(o.rulesFor(u, namespace), namespace == "")}
	aggregates := namespace == "" && g.IntN(8) == 0
	if aggregates {
		role.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"a": "b"}}}}
	}
	if a.New = treeOf(t, role); update {
		name = key.Name
		role.Labels = map[string]string{"old": "role"}
		a.Old = treeOf(t, role)
	}
	return a, o.mayWriteRole(u, key, name, aggregates, role.Rules)
}

// String returns the roles and bindings, to reproduce a failure by hand.
func (o *roleOracle) String() string {
	var b strings.Builder
	for _, key := range sortedKeys(o.roles) {
		text, _ := json.Marshal(o.roles[key].Rules)
		fmt.Fprintf(&b, "%s: %s\n", key, text)
	}
	for _, key := range sortedKeys(o.bindings) {
		fmt.Fprintf(&b, "%s: %+v %+v\n", key, o.bindings[key].RoleRef, o.bindings[key].Subjects)
	}
	return b.String()
}
