package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/authz/rbac"
	"github.com/troupe-api/troupe/test/client"
)

// oracleOf returns an oracle of the roles and bindings that a server stores.
func oracleOf(r *userCluster) *roleOracle {
	r.t.Helper()
	o := newRoleOracle()
	for _, resource := range []string{"clusterroles", "roles"} {
		var list rbacv1.ClusterRoleList
		client.Decode(r.t, r.expect("root", "GET", rbacPath+"/"+resource, "", 200).Body, &list)
		for _, role := range list.Items {
			o.roles[roleKey(role.Namespace, role.Name, false)] = role
		}
	}
	for _, resource := range []string{"clusterrolebindings", "rolebindings"} {
		var list rbacv1.RoleBindingList
		client.Decode(r.t, r.expect("root", "GET", rbacPath+"/"+resource, "", 200).Body, &list)
		for _, b := range list.Items {
			o.bindings[roleKey(b.Namespace, b.Name, true)] = b
		}
	}
	return o
}

func collectionOf(key meta.Key) string {
	if key.Namespace == "" {
		return rbacPath + "/" + key.Resource
	}
	return rbacPath + "/namespaces/" + key.Namespace + "/" + key.Resource
}

// reviewSpec returns the spec of a SelfSubjectAccessReview.
func reviewSpec(a authz.Attributes) string {
	if !a.ResourceRequest {
		return fmt.Sprintf(`{"spec":{"nonResourceAttributes":{"verb":%q,"path":%q}}}`, a.Verb, a.Path)
	}
	return fmt.Sprintf(`{"spec":{"resourceAttributes":{"verb":%q,"group":%q,"version":"v1","resource":%q,"subresource":%q,"namespace":%q,"name":%q}}}`,
		a.Verb, a.Group, a.Resource, a.Subresource, a.Namespace, a.Name)
}

// everybody returns a user with the groups of all authenticated users.
func everybody(u *authn.User) *authn.User {
	return &authn.User{Name: u.Name, Groups: append(slices.Clone(u.Groups), "system:authenticated")}
}

// aggregate makes some ClusterRoles aggregate others, which it labels. It lets all users write
// roles and bindings.
func (g roleGenerator) aggregate(o *roleOracle) {
	for _, key := range sortedKeys(o.roles) {
		if role := o.roles[key]; key.Namespace == "" {
			role.Labels = map[string]string{"part": oneOf(g, []string{"x", "y"})}
			o.roles[key] = role
		}
	}
	for i, name := range []string{"r0", "all"} { // "all" aggregates r0, if r0 is in part x
		key := roleKey("", name, false)
		o.roles[key] = rbacv1.ClusterRole{
			ObjectMeta:      metav1.ObjectMeta{Name: name, Labels: map[string]string{"part": "x"}},
			AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"part": []string{"y", "x"}[i]}}}},
		}
	}
	o.roles[roleKey("", "writer", false)] = rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "writer"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"create", "update"}, APIGroups: []string{rbacGroupName}, Resources: []string{"*"}}},
	}
	o.bindings[roleKey("", "writer", true)] = rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "writer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacGroupName, Kind: "Group", Name: "system:authenticated"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacGroupName, Kind: "ClusterRole", Name: "writer"},
	}
	o.bindings[roleKey("", "all", true)] = rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "all"}, Subjects: g.subjects(), RoleRef: rbacv1.RoleRef{APIGroup: rbacGroupName, Kind: "ClusterRole", Name: "all"},
	}
}

// TestReviewsAgainstOracle compares access reviews, rules reviews, and writes of roles and bindings
// with the published semantics. Users ask about themselves over HTTP.
func TestReviewsAgainstOracle(t *testing.T) {
	t.Parallel()
	var users []string
	for _, u := range oracleUsers {
		users = append(users, u.Name+"="+strings.Join(u.Groups, ","))
	}
	seed := client.Seed(t, 41)
	asked, allowed, granted, refused := 0, 0, 0, 0
	for round := range client.Rounds(t, 1, 4) {
		g := roleGenerator{rand.New(rand.NewPCG(seed, uint64(round)))}
		r := serveUsers(t, nil, users...)
		made := newRoleOracle()
		for range 60 {
			g.change(made)
		}
		g.aggregate(made)
		r.must("/api/v1/namespaces", `{"metadata":{"name":"n1"}}`)
		r.must("/api/v1/namespaces", `{"metadata":{"name":"n2"}}`)
		for _, key := range sortedKeys(made.roles) {
			r.must(collectionOf(key), string(client.Encode(t, made.roles[key])))
		}
		for _, key := range sortedKeys(made.bindings) {
			r.must(collectionOf(key), string(client.Encode(t, made.bindings[key])))
		}
		o := r.settle()
		for range 2500 {
			q := g.request()
			q.User = everybody(q.User)
			want := o.allows(q)
			a := r.do(q.User.Name, "POST", reviewPath+"/selfsubjectaccessreviews", reviewSpec(q))
			if asked++; a.Code != 201 || strings.Contains(string(a.Body), `"allowed":true`) != want {
				t.Fatalf("%+v by %+v: got %s, want it allowed: %t\n%s", q, *q.User, a, want, made)
			}
			if want {
				allowed++
			}
		}
		for _, u := range oracleUsers {
			for _, namespace := range []string{"n1", "n2", "default"} {
				r.compareRules(o, everybody(u), namespace)
				asked++
			}
		}
		for range 500 {
			if r.tryWrite(g, made, o) {
				granted++
			} else {
				refused++
			}
		}
	}
	if allowed < asked/50 || granted < refused/20 || refused < granted/20 {
		t.Errorf("of %d reviews %d are allowed; of %d writes %d", asked, allowed, granted+refused, granted)
	}
	client.Figures(t, "%d reviews (%d allowed), %d writes of roles and bindings (%d allowed)", asked, allowed, granted+refused, granted)
}

// settle waits until aggregating roles have their rules, and the authorizer knows all roles and
// bindings. It returns an oracle of the stored objects.
func (r *userCluster) settle() *roleOracle {
	r.t.Helper()
	var o *roleOracle
	client.Eventually(r.t, func() error {
		o = oracleOf(r)
		for key, role := range o.roles {
			if want := o.rulesOf(key); !coverEachOther(role.Rules, want) {
				return fmt.Errorf("%s aggregates %v, want %v", key, role.Rules, want)
			}
		}
		return nil
	})
	// Both requests are allowed only after the authorizer has read everything above.
	r.grant("marker", "marker", `{"nonResourceURLs":["/marker"],"verbs":["get"]}`)
	r.must(rbacPath+"/namespaces/default/roles", `{"metadata":{"name":"marker"},"rules":[{"apiGroups":[""],"resources":["markers"],"verbs":["get"]}]}`)
	r.must(rbacPath+"/namespaces/default/rolebindings", bound("marker", "Role/marker", "marker"))
	r.waitAllowed(`"user":"marker","resourceAttributes":{"verb":"get","resource":"markers","namespace":"default"}`)
	return o
}

func coverEachOther(a, b []rbacv1.PolicyRule) bool {
	some, _ := validation.Covers(a, b)
	others, _ := validation.Covers(b, a)
	return some && others
}

// compareRules checks that a SelfSubjectRulesReview lists the rules of the oracle, and the health
// checks that all users may read.
func (r *userCluster) compareRules(o *roleOracle, u *authn.User, namespace string) {
	r.t.Helper()
	var review struct {
		Status struct {
			Incomplete                      bool
			ResourceRules, NonResourceRules []rbacv1.PolicyRule
		}
	}
	a := r.do(u.Name, "POST", reviewPath+"/selfsubjectrulesreviews", `{"spec":{"namespace":"`+namespace+`"}}`)
	client.Decode(r.t, a.Body, &review)
	want := append(o.rulesFor(u, namespace), rbacv1.PolicyRule{
		Verbs:           []string{"get", "head"},
		NonResourceURLs: []string{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*"},
	})
	if got := append(review.Status.ResourceRules, review.Status.NonResourceRules...); a.Code != 201 || review.Status.Incomplete || !coverEachOther(got, want) {
		r.t.Errorf("%+v in %s: got %s\nwant %v", *u, namespace, a, want)
	}
}

// tryWrite tries to create or update a role or a binding, as a dry run, and reports whether the
// oracle allows it.
func (r *userCluster) tryWrite(g roleGenerator, made, o *roleOracle) bool {
	r.t.Helper()
	u, namespace := everybody(oneOf(g, oracleUsers)), oneOf(g, []string{"", "n1", "n2"})
	key, allowed := roleKey(namespace, "new", g.IntN(3) == 0), false
	method, code := "POST", 201
	var object any
	if strings.HasSuffix(key.Resource, "bindings") {
		b := g.binding(namespace)
		if keys := sortedKeys(made.bindings); g.IntN(2) == 0 {
			key = oneOf(g, keys)
			b.RoleRef, method, code = made.bindings[key].RoleRef, "PUT", 200
			b.Subjects = append(b.Subjects, rbacv1.Subject{APIGroup: rbacGroupName, Kind: "User", Name: "other"})
		}
		b.Namespace, b.Name = key.Namespace, key.Name
		object, allowed = b, o.mayBind(u, key.Namespace, b.RoleRef)
	} else {
		name := ""
		if g.IntN(2) == 0 {
			key = oneOf(g, sortedKeys(made.roles))
			name, method, code = key.Name, "PUT", 200
		}
		role := rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"changed": "yes"}}}
		role.Rules = g.wanted(o.rulesFor(u, key.Namespace), key.Namespace == "")
		old := made.roles[key]
		if key.Namespace == "" && (g.IntN(8) == 0 || old.AggregationRule != nil && g.IntN(2) == 0) {
			role.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"part": "z"}}}}
		}
		object, allowed = role, o.mayWriteRole(u, key, name, role.AggregationRule != nil || old.AggregationRule != nil, role.Rules)
	}
	path := collectionOf(key)
	if method == "PUT" {
		path += "/" + key.Name
	}
	if !allowed {
		code = 403
	}
	body := string(client.Encode(r.t, object))
	if a := r.do(u.Name, method, path+"?dryRun=All", body); a.Code != code && (allowed || a.Code != 404) {
		r.t.Fatalf("%s %s by %+v: %s: got %s, want %d\n%s", method, path, *u, body, a, code, made)
	}
	return allowed
}

// TestDefaultRolesAgainstOracle asks for every verb on every resource, subresource and some paths
// on behalf of a user of each default role, and of each user, group and account that a default
// binding names.
func TestDefaultRolesAgainstOracle(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, nil)
	o := r.settle()
	store := newMemoryStore()
	a, err := rbac.New(t.Context(), store, meta.Platform)
	if err != nil {
		t.Fatal(err)
	}
	users := []*authn.User{{Name: "none"}}
	add := func(u *authn.User) { users = append(users, u) }
	for key := range o.roles {
		holder := rbacv1.Subject{Kind: "User", Name: "holder of " + key.Namespace + "/" + key.Name}
		ref := rbacv1.RoleRef{Kind: "ClusterRole", Name: key.Name}
		if key.Namespace != "" {
			ref.Kind = "Role"
		}
		o.bindings[roleKey(key.Namespace, holder.Name, true)] = rbacv1.RoleBinding{Subjects: []rbacv1.Subject{holder}, RoleRef: ref}
		add(&authn.User{Name: holder.Name})
	}
	for _, b := range o.bindings {
		for _, s := range b.Subjects {
			switch s.Kind {
			case "User":
				add(&authn.User{Name: s.Name})
			case "Group":
				add(&authn.User{Name: "member", Groups: []string{s.Name}})
			default:
				add(&authn.User{Name: "system:serviceaccount:" + s.Namespace + ":" + s.Name})
			}
		}
	}
	for key, role := range o.roles {
		store.put(t, key, role)
	}
	for key, b := range o.bindings {
		store.put(t, key, b)
	}
	requests := r.everyRequest()
	asked, allowed := 0, 0
	for _, u := range users {
		held := map[string][]rbacv1.PolicyRule{"": o.rulesFor(u, ""), "platform-system": o.rulesFor(u, "platform-system")}
		for _, q := range requests {
			q.User = u
			want := slices.ContainsFunc(held[q.Namespace], func(rule rbacv1.PolicyRule) bool { return ruleAllows(rule, q) })
			if d, reason := a.Authorize(q); (d == authz.Allow) != want {
				t.Errorf("%+v by %+v: got %v %q, want it allowed: %t", q, *u, d, reason, want)
			}
			if asked++; want {
				allowed++
			}
		}
	}
	if len(users) < 100 || len(requests) < 1000 || allowed < asked/100 {
		t.Errorf("%d users, %d requests each, %d of them allowed", len(users), len(requests), allowed)
	}
	client.Figures(t, "%d requests of %d users (%d allowed)", asked, len(users), allowed)
}

// everyRequest returns a request for each verb on each resource and subresource that the server
// serves, cluster-wide and in a namespace, and on each path that it lists.
func (r *userCluster) everyRequest() (all []authz.Attributes) {
	r.t.Helper()
	verbs := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "approve", "sign", "impersonate"}
	seen := map[authz.Attributes]bool{}
	add := func(a authz.Attributes) {
		if !seen[a] {
			seen[a], all = true, append(all, a)
		}
	}
	for _, list := range discover(r.t, r.Server) {
		group, _, _ := strings.Cut(list.GroupVersion, "/")
		if group == list.GroupVersion {
			group = ""
		}
		for _, resource := range list.APIResources {
			a := authz.Attributes{ResourceRequest: true, Group: group, Version: "v1"}
			a.Resource, a.Subresource, _ = strings.Cut(resource.Name, "/")
			for _, a.Verb = range verbs {
				for _, a.Namespace = range []string{"", "platform-system"} {
					for _, a.Name = range []string{"", "platform-controller-manager"} {
						add(a)
					}
				}
			}
		}
	}
	var paths struct{ Paths []string }
	client.Decode(r.t, r.expect("root", "GET", "/", "", 200).Body, &paths)
	for _, path := range append(paths.Paths, "/", "/unknown", "/version/", "/metrics/slis") {
		for _, verb := range []string{"get", "head", "post", "put", "delete"} {
			add(authz.Attributes{Verb: verb, Path: path})
		}
	}
	return all
}
