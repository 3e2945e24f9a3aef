package extension

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestSelection: which requests a webhook is asked about.
func TestSelection(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	for _, n := range []string{"in", "out"} {
		s.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"`+n+`","labels":{"l":"`+n+`"}}}`)
	}
	selector := func(name string) string { return `"` + name + `":{"matchLabels":{"l":"in"}}` }
	in, out := "/api/v1/namespaces/in/configmaps", "/api/v1/namespaces/out/configmaps"
	const labelled = `{"metadata":{"name":"%d","labels":{"l":"in"}}}`
	for i, c := range []struct {
		what        string
		hook        webhookHook
		path, label string
		want        bool
	}{
		{"everything", webhookHook{}, in, "x", true},
		{"the operation", webhookHook{rules: rule("CREATE", "", "v1", "configmaps")}, in, "x", true},
		{"another operation", webhookHook{rules: rule("UPDATE,DELETE", "", "v1", "configmaps")}, in, "x", false},
		{"another resource", webhookHook{rules: rule("*", "", "v1", "secrets")}, in, "x", false},
		{"another group", webhookHook{rules: rule("*", "apps", "v1", "configmaps")}, in, "x", false},
		{"another version", webhookHook{rules: rule("*", "", "v2", "configmaps")}, in, "x", false},
		{"the second rule", webhookHook{rules: rule("*", "apps", "*", "*") + "," + rule("*", "", "*", "*")}, in, "x", true},
		{"sub-resources", webhookHook{rules: rule("*", "", "v1", "*/status")}, in, "x", false},
		{"its scope", webhookHook{rules: strings.Replace(allRules, `"scope":"*"`, `"scope":"Namespaced"`, 1)}, in, "x", true},
		{"another scope", webhookHook{rules: strings.Replace(allRules, `"scope":"*"`, `"scope":"Cluster"`, 1)}, in, "x", false},
		{"the namespace", webhookHook{more: selector("namespaceSelector")}, in, "x", true},
		{"another namespace", webhookHook{more: selector("namespaceSelector")}, out, "in", false},
		{"the labels", webhookHook{more: selector("objectSelector")}, out, "in", true},
		{"other labels", webhookHook{more: selector("objectSelector")}, in, "x", false},
		{"a new namespace", webhookHook{more: selector("namespaceSelector")}, "/api/v1/namespaces", "in", true},
		{"another new namespace", webhookHook{more: selector("namespaceSelector")}, "/api/v1/namespaces", "x", false},
		{"no namespace", webhookHook{more: selector("namespaceSelector")}, "/api/v1/persistentvolumes?dryRun=All", "x", true},
		{"a condition", webhookHook{more: `"matchConditions":[{"name":"a","expression":"object.metadata.labels.l == 'in' && request.operation == 'CREATE' && oldObject == null"}]`}, in, "in", true},
		{"a condition that is false", webhookHook{more: `"matchConditions":[{"name":"a","expression":"true"},{"name":"b","expression":"request.userInfo.username == 'nobody'"}]`}, in, "in", false},
		{"a condition of rights", webhookHook{more: `"matchConditions":[{"name":"a","expression":"authorizer.group('').resource('configmaps').namespace('in').check('create').allowed()"}]`}, in, "in", true},
		{"a condition that fails, if faults are ignored", webhookHook{more: `"failurePolicy":"Ignore","matchConditions":[{"name":"a","expression":"object.absent == 1"}]`}, in, "in", false},
	} {
		s.register(validating, "v", c.hook.text(h))
		h.questions()
		body := strings.Replace(fmt.Sprintf(labelled, i), `"l":"in"`, `"l":"`+c.label+`"`, 1)
		if strings.Contains(c.path, "persistentvolumes") {
			body = strings.TrimSuffix(body, "}") + `,"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}}`
		}
		s.Send(201, "POST", c.path, client.JSON, body)
		if asked := len(h.questions()); (asked == 1) != c.want || asked > 1 {
			t.Errorf("%s: asked %d times", c.what, asked)
		}
		s.unregister(validating, "v")
	}
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps, more: `"matchConditions":[{"name":"a","expression":"object.absent == 1"},{"name":"b","expression":"true"}]`}.text(h))
	s.wantMessage(s.create(403, "c", ""), "no such key: absent")
	s.unregister(validating, "v")
	a := s.Send(422, "POST", s.configurations(validating), client.JSON, s.configuration(validating, "v", webhookHook{more: `"matchConditions":[{"name":"a","expression":"object ="}]`}.text(h)))
	s.wantMessage(a, "webhooks[0].matchConditions[0].expression: Invalid value")
}

// TestSelectionByOldLabels: an object that had the labels is not let out of sight.
func TestSelectionByOldLabels(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	s.Send(201, "POST", configMaps, client.JSON, `{"metadata":{"name":"a","labels":{"l":"in"}}}`)
	s.register(validating, "v", webhookHook{rules: onlyConfigMaps, more: `"objectSelector":{"matchLabels":{"l":"in"}}`}.text(h))
	for i, labels := range []string{`{"l":"out"}`, `{"l":"in"}`, `{"l":null}`} {
		s.Send(200, "PATCH", configMaps+"/a", client.MergePatch, `{"metadata":{"labels":`+labels+`}}`)
		if asked := len(h.questions()); asked != 1 {
			t.Errorf("change %d: asked %d times", i, asked)
		}
	}
	s.Send(200, "DELETE", configMaps+"/a", "", "")
	if asked := len(h.questions()); asked != 0 {
		t.Errorf("without the label: asked %d times", asked)
	}
}

// TestConfigurationsAreExempt: nobody is asked about the configurations, so that a bad one can be taken away.
func TestConfigurationsAreExempt(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, respond(`"allowed":false`))
	s.register(validating, "v", webhookHook{}.text(h))
	s.register(mutating, "m", webhookHook{}.text(h))
	s.create(400, "a", "")
	s.Send(200, "PATCH", s.configurations(validating)+"/v", client.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`)
	h.questions()
	s.unregister(validating, "v")
	s.unregister(mutating, "m")
	s.create(201, "a", "")
	if asked := len(h.questions()); asked > 0 {
		t.Errorf("asked %d times", asked)
	}
}

// TestChangedConfiguration: a change counts from the moment when its write is answered.
func TestChangedConfiguration(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	no, yes := startWebhooks(t, respond(`"allowed":false`)), startWebhooks(t, allow)
	for i := range 20 {
		s.register(validating, "v", webhookHook{rules: onlyConfigMaps}.text(no))
		s.create(400, fmt.Sprint("a", i), "")
		s.Send(200, "PATCH", s.configurations(validating)+"/v", client.MergePatch, `{"webhooks":[`+webhookHook{rules: onlyConfigMaps}.text(yes)+`]}`)
		s.create(201, fmt.Sprint("a", i), "")
		s.unregister(validating, "v")
	}
}

// TestEquivalent: a webhook sees the version that it is registered for, and what it changes is stored.
func TestEquivalent(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	m, v := startWebhooks(t, allow), startWebhooks(t, allow)
	const v1, v2 = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
	scalers := rule("*", "autoscaling", "v1", "horizontalpodautoscalers")
	m.set(patches(`[{"op":"replace","path":"/spec/targetCPUUtilizationPercentage","value":33}]`))
	s.register(mutating, "m", webhookHook{rules: scalers}.text(m))
	s.register(validating, "v", webhookHook{rules: scalers, more: `"matchPolicy":"Exact"`}.text(v))
	const body = `{"metadata":{"name":"a"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"metrics":[
		{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}},
		{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":50}}}]}}`
	a := s.Send(201, "POST", v2, client.JSON, body)
	s.wantText(a, `"averageUtilization":33`, `"averageUtilization":50`, `"apiVersion":"autoscaling/v2"`)
	only(t, m).want(t, "another version", map[string]string{
		"kind": `{"group":"autoscaling","kind":"HorizontalPodAutoscaler","version":"v1"}`, "requestKind": `{"group":"autoscaling","kind":"HorizontalPodAutoscaler","version":"v2"}`,
		"resource": `{"group":"autoscaling","resource":"horizontalpodautoscalers","version":"v1"}`, "requestResource": `{"group":"autoscaling","resource":"horizontalpodautoscalers","version":"v2"}`,
		"object.apiVersion": `"autoscaling/v1"`, "object.spec.targetCPUUtilizationPercentage": "70",
	})
	if asked := len(v.questions()); asked > 0 {
		t.Errorf("Exact: asked %d times", asked)
	}
	s.Send(200, "PATCH", v1+"/a", client.MergePatch, `{"spec":{"maxReplicas":4}}`)
	if asked := len(v.questions()); asked != 1 {
		t.Errorf("Exact, its version: asked %d times", asked)
	}
	h := startWebhooks(t, allow)
	s.register(validating, "events", webhookHook{rules: rule("*", "events.platform.io", "v1", "events")}.text(h))
	s.Send(201, "POST", "/api/v1/namespaces/default/events", client.JSON, `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"},"message":"hello"}`)
	only(t, h).want(t, "another group", map[string]string{"object.note": `"hello"`, "object.message": "", "resource.group": `"events.platform.io"`, "requestResource.group": `""`})
}

// TestEquivalentIsServed checks that versions that are not served are not equivalent, of built-in
// and of custom kinds.
func TestEquivalentIsServed(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, func(c *daemon.Config) { c.API.RuntimeConfig = daemon.Switches{"autoscaling/v1": false} })
	const gadgets = "/apis/gone.example.com/%s/namespaces/default/gadgets"
	definition := func(served bool) string {
		return fmt.Sprintf(`{"spec":{"group":"gone.example.com","scope":"Namespaced","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget"},"versions":[
			{"name":"v1","served":%t,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, served)
	}
	const definitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	s.Send(201, "POST", definitions, client.JSON, strings.Replace(definition(true), `{"spec"`, `{"metadata":{"name":"gadgets.gone.example.com"},"spec"`, 1))
	h := startWebhooks(t, allow)
	s.register(validating, "v", webhookHook{rules: rule("CREATE", "autoscaling", "v1", "horizontalpodautoscalers")}.text(h),
		webhookHook{name: "gadgets.example.com", rules: rule("CREATE", "gone.example.com", "v1", "gadgets")}.text(h))
	s.Send(201, "POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", client.JSON, `{"metadata":{"name":"a"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}}`)
	if asked := len(h.questions()); asked > 0 {
		t.Errorf("about a version that is not served: asked %d times", asked)
	}
	create := func(name string) {
		client.Eventually(t, func() error { // for the definition to be served
			a, err := s.Do(s.Ctx, "POST", fmt.Sprintf(gadgets, "v2"), client.JSON, []byte(`{"apiVersion":"gone.example.com/v2","kind":"Gadget","metadata":{"name":"`+name+`"}}`))
			if err == nil && a.Code != 201 {
				err = &a
			}
			return err
		})
	}
	create("a")
	only(t, h).want(t, "a served version", map[string]string{"object.apiVersion": `"gone.example.com/v1"`})
	s.Send(200, "PATCH", definitions+"/gadgets.gone.example.com", client.MergePatch, definition(false))
	create("b")
	if asked := len(h.questions()); asked > 0 {
		t.Errorf("about a version that is not served any more: asked %d times", asked)
	}
}

// TestCustomKinds: webhooks of custom kinds in several versions.
func TestCustomKinds(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	version := func(name string, storage bool) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","minimum":1},"color":{"type":"string","default":"red"}}}}}}}`, name, storage)
	}
	s.Send(201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", client.JSON, `{"apiVersion":"apiextensions.platform.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[`+version("v1", true)+`,`+version("v2", false)+`]}}`)
	h := startWebhooks(t, patches(`[{"op":"add","path":"/spec/size","value":5},{"op":"add","path":"/spec/unknown","value":5}]`))
	s.register(mutating, "m", webhookHook{rules: rule("*", "example.com", "v2", "widgets")}.text(h))
	const widgets = "/apis/example.com/v1/namespaces/default/widgets"
	a := s.Send(201, "POST", widgets, client.JSON, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}`)
	s.wantText(a, `"size":5`, `"color":"red"`, `"apiVersion":"example.com/v1"`)
	if strings.Contains(string(a.Body), "unknown") {
		t.Errorf("a field that is not in the schema is stored: %s", a)
	}
	only(t, h).want(t, "a custom kind", map[string]string{"object.apiVersion": `"example.com/v2"`, "requestKind.version": `"v1"`, "kind.version": `"v2"`, "object.spec": `{"color":"red","size":1}`})
	h.set(patches(`[{"op":"add","path":"/spec/size","value":0}]`))
	s.wantMessage(s.Send(422, "PATCH", widgets+"/w", client.MergePatch, `{"spec":{"color":"blue"}}`), "spec.size")
	h.questions()
	h.set(allow)
	s.Send(200, "PATCH", "/apis/example.com/v2/namespaces/default/widgets/w", client.MergePatch, `{"spec":{"color":"blue"}}`)
	only(t, h).want(t, "its own version", map[string]string{"object.apiVersion": `"example.com/v2"`, "oldObject.apiVersion": `"example.com/v2"`, "requestKind.version": `"v2"`})
}

// TestDeleteCollection: webhooks are asked about each object.
func TestDeleteCollection(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	for _, name := range []string{"a", "b", "c"} {
		s.Send(201, "POST", configMaps, client.JSON, `{"metadata":{"name":"`+name+`","labels":{"x":"y"}}}`)
	}
	s.register(validating, "v", webhookHook{rules: rule("DELETE", "", "v1", "configmaps")}.text(h))
	s.Send(200, "DELETE", configMaps+"?labelSelector=x%3Dy", "", "")
	if got := sorted(namesWebhooks(h.questions(), "oldObject", "metadata", "name")); got != "a b c" {
		t.Errorf("asked about %s", got)
	}
}
