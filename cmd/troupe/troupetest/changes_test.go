package troupetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/troupetest"
	"github.com/troupe-api/troupe/internal/must"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

// TestChangesAreComplete checks that the writes of 8 concurrent writers of several kinds are each
// recorded once, in the order of resource versions.
func TestChangesAreComplete(t *testing.T) {
	t.Parallel()
	s := troupetest.Start(t)
	mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"before"}}`)
	changes := s.Changes(t, troupetest.OfKinds("ConfigMap", "Secret", "Namespace"), troupetest.Not(troupetest.InNamespaces("kube-system")))

	const writers, rounds = 8, 20
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range rounds {
				kind := []string{"configmaps", "secrets"}[(w+i)%2]
				path := "/api/v1/namespaces/default/" + kind
				name := fmt.Sprintf("w%d-%d", w, i)
				mustDo(t, s, 201, "POST", path, `{"metadata":{"name":"`+name+`"}}`)
				mustDo(t, s, 200, "PUT", path+"/"+name, `{"metadata":{"name":"`+name+`","labels":{"a":"b"}}}`)
				mustDo(t, s, 200, "DELETE", path+"/"+name, "")
			}
		})
	}
	go all.Wait()
	seen, last := map[string][]string{}, 0
	for range writers * rounds * 3 {
		c := changes.Next(t.Context())
		var version int
		fmt.Sscan(c.ResourceVersion, &version)
		if version <= last {
			t.Fatalf("%s follows resourceVersion %d", c, last)
		}
		last = version
		seen[c.Kind+c.Name] = append(seen[c.Kind+c.Name], c.Verb)
	}
	all.Wait()
	if rest := changes.Committed(); len(rest) > 0 {
		t.Errorf("%d changes too many, the first is %s", len(rest), rest[0])
	}
	if len(seen) != writers*rounds {
		t.Errorf("%d objects, want %d", len(seen), writers*rounds)
	}
	for name, verbs := range seen {
		if got := strings.Join(verbs, " "); got != "create update delete" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func manage(t *testing.T, s *troupetest.Server, manager, method, path, body string) {
	t.Helper()
	mustDo(t, s, 200, method, path+"?fieldManager="+manager, body)
}

func TestChange(t *testing.T) {
	t.Parallel()
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	s := troupetest.Start(t)
	changes := s.Changes(t, troupetest.InNamespaces("default"), troupetest.Not(troupetest.OfKinds("Lease", "Event")))
	mustDo(t, s, 201, "POST", configMaps+"?fieldManager=creator", `{"metadata":{"name":"a"},"data":{"k":"1","gone":"x"}}`)
	manage(t, s, "editor", "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"2"}}`)
	manage(t, s, "editor", "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"3"}}`)
	manage(t, s, "editor", "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"3"}}`) // changes nothing
	mustDo(t, s, 200, "DELETE", configMaps+"/a", "")
	mustDo(t, s, 201, "POST", "/api/v1/namespaces/default/secrets?fieldManager=creator", `{"metadata":{"name":"s"},"stringData":{"password":"hunter2"}}`)
	mustDo(t, s, 201, "POST", deployments+"?fieldManager=creator",
		`{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	d := mustDo(t, s, 200, "GET", deployments+"/d", "")
	manage(t, s, "controller", "PUT", deployments+"/d/status", strings.Replace(fmt.Sprint(jsonOf(t, d)), `"status":{}`, `"status":{"replicas":1}`, 1))

	var lines []string
	for _, c := range changes.Committed() {
		line := c.String()
		lines = append(lines, line[:strings.LastIndex(line, " (")])
		switch {
		case c.StatusOnly != (c.Manager == "controller"):
			t.Errorf("%s: StatusOnly is %v", c, c.StatusOnly)
		case strings.Contains(c.Diff(), "hunter2") || strings.Contains(c.Diff(), "aHVudGVyMg"):
			t.Errorf("%s shows the value of a Secret: %s", c, c.Diff())
		case c.Object["kind"] != c.Kind, (c.Previous == nil) != (c.Verb == "create"):
			t.Errorf("%s: object %v, previous %v", c, c.Object, c.Previous)
		}
		if c.Name == "a" && c.Verb == "update" && c.Manager == "editor" {
			lines = append(lines, difflines(c.Diff())...)
		}
	}
	want := `create ConfigMap default/a by creator
update ConfigMap default/a by editor
-  gone: x
-  k: "1"
+  k: "2"
update ConfigMap default/a by editor
-  k: "2"
+  k: "3"
delete ConfigMap default/a by (unknown)
create Secret default/s by creator
create Deployment default/d by creator
update Deployment default/d by controller`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func jsonOf(t *testing.T, o map[string]any) string {
	t.Helper()
	return string(must.Get(json.Marshal(o))(t))
}

func difflines(diff string) (lines []string) {
	for line := range strings.Lines(diff) {
		if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++") && !strings.HasPrefix(line, "---") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// A reported is a testing.TB that records the errors of an expectation.
type reported struct {
	testing.TB
	errors []string
}

func (r *reported) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestExpectNoWrites(t *testing.T) {
	t.Parallel()
	s := troupetest.Start(t)
	mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"a"},"data":{"k":""}}`)
	for name, test := range map[string]struct {
		write func()
		want  string // of the report; "" if there is none
	}{
		"a read":           {func() { mustDo(t, s, 200, "GET", configMaps+"/a", "") }, ""},
		"a filtered write": {func() { mustDo(t, s, 201, "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`) }, ""},
		"a dry run":        {func() { mustDo(t, s, 200, "DELETE", configMaps+"/a?dryRun=All", "") }, ""},
		"a write":          {func() { manage(t, s, "hotel", "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"new"}}`) }, "update ConfigMap default/a by hotel"},
		"the diff of it too": {func() {
			manage(t, s, "hotel", "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"newer"}}`)
		}, "+  k: newer"},
	} {
		r := &reported{TB: t}
		s.ExpectNoWrites(r, test.write, troupetest.OfKinds("ConfigMap"))
		if got := strings.Join(r.errors, "\n"); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: report %q, want %q", name, got, test.want)
		}
	}
}

func TestExpectSettled(t *testing.T) {
	t.Parallel()
	s := troupetest.Start(t)
	mustDo(t, s, 201, "POST", configMaps, `{"metadata":{"name":"a"},"data":{"k":""}}`)
	set := func(manager, value string) {
		manage(t, s, manager, "PUT", configMaps+"/a", `{"metadata":{"name":"a"},"data":{"k":"`+value+`"}}`)
	}
	for name, test := range map[string]struct {
		run  func(ctx context.Context)
		want []string // parts of the report; none if there is no report
	}{
		"few updates": {func(context.Context) {
			for i := range 4 {
				set("a", fmt.Sprint(i))
			}
		}, nil},
		"one step back": {func(context.Context) { set("a", "x"); set("b", "y"); set("a", "x"); set("b", "y") }, nil},
		"a hot loop": {func(context.Context) {
			for i := range 5 {
				set("a", fmt.Sprint("v", i))
			}
		}, []string{"not settled: configmaps/default/a: 5 updates, 5 by a"}},
		"a fight": {func(context.Context) {
			for range 3 {
				set("a", "one")
				set("b", "two")
			}
		}, []string{"3 by a, 3 by b", ".data.k reverted ", `"one" by a`, `"two" by b`}},
		"an endless fight": {func(ctx context.Context) {
			for ctx.Err() == nil {
				set("a", "one")
				set("b", "two")
			}
		}, []string{`"two" by b`}},
	} {
		r := &reported{TB: t}
		s.ExpectSettled(r, 4, test.run, troupetest.OfKinds("ConfigMap"))
		report := strings.Join(r.errors, "\n")
		if (report == "") != (test.want == nil) {
			t.Errorf("%s: report %q", name, report)
		}
		for _, part := range test.want {
			if !strings.Contains(report, part) {
				t.Errorf("%s: report %q lacks %q", name, report, part)
			}
		}
	}
}
