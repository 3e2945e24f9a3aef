package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const warningTypeApply = "application/apply-patch+yaml"

// TestWarnings checks the warnings for each case, written as a create, update, patch or apply.
func TestWarnings(t *testing.T) {
	t.Parallel()
	s := client.Open(t, plainWarnings)
	for _, c := range readCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			p := warningPlayer{Session: client.Session{Server: s.Server, Ctx: s.Ctx, T: t}, c: c}
			if c.Old == nil {
				p.playCreate()
			} else {
				p.playUpdate()
			}
		})
	}
}

type warningPlayer struct {
	client.Session
	c warningCase
}

func (p warningPlayer) write(code int, method, path, contentType, body string) {
	p.T.Helper()
	if got := texts(p.T, p.Send(code, method, path, contentType, body)); !slices.Equal(got, p.c.Warnings) {
		p.T.Errorf("%s %s %s:\n got %q\nwant %q", method, path, contentType, got, p.c.Warnings)
	}
}

func (p warningPlayer) playCreate() {
	collection, at := path(p.T, p.c.Object)
	object := string(p.c.Object)
	p.write(201, http.MethodPost, collection+"?dryRun=All", client.JSON, object)
	p.write(201, http.MethodPost, collection, client.JSON, object)
	p.delete(at)
	if !p.c.Duplicates {
		p.write(201, http.MethodPatch, at+"?fieldManager=x", warningTypeApply, object)
		p.delete(at)
	}
}

func (p warningPlayer) playUpdate() {
	collection, at := path(p.T, p.c.Object)
	target := at
	if p.c.Subresource != "" {
		target += "/" + p.c.Subresource
	}
	ways := []struct{ method, contentType string }{{http.MethodPut, client.JSON}, {http.MethodPatch, client.MergePatch}}
	if !p.c.Duplicates {
		ways = append(ways, struct{ method, contentType string }{http.MethodPatch, warningTypeApply})
	}
	for _, way := range ways {
		body, query := p.c.Object, ""
		created := p.Send(201, http.MethodPost, collection, client.JSON, string(p.c.Old))
		switch way.contentType {
		case warningTypeApply:
			query = "?fieldManager=x&force=true"
		case client.JSON:
			body = p.changed(created.Body)
		}
		p.write(200, way.method, target+query, way.contentType, string(body))
		p.delete(at)
	}
}

// changed merges the object of the case into the object that the server created.
func (p warningPlayer) changed(created []byte) []byte {
	var whole, changes map[string]any
	err := json.Unmarshal(created, &whole)
	if err == nil {
		err = json.Unmarshal(p.c.Object, &changes)
	}
	if err != nil {
		p.T.Fatal(err)
	}
	mergeWarnings(whole, changes)
	body, _ := json.Marshal(whole)
	return body
}

func mergeWarnings(whole, changes map[string]any) {
	for key, change := range changes {
		was, isObject := whole[key].(map[string]any)
		if now, ok := change.(map[string]any); ok && isObject {
			mergeWarnings(was, now)
			continue
		}
		whole[key] = change
	}
}

func (p warningPlayer) delete(at string) {
	p.T.Helper()
	p.Send(200, http.MethodPatch, at, client.MergePatch, `{"metadata":{"finalizers":null}}`)
	a, err := p.Do(p.Ctx, http.MethodDelete, at+"?gracePeriodSeconds=0&propagationPolicy=Background", client.JSON, nil)
	if err != nil || a.Code != 200 {
		p.T.Fatalf("DELETE %s: %v, %v", at, a, err)
	}
}

// TestUnchangedApply checks that a no-op apply returns the same warnings as an update.
func TestUnchangedApply(t *testing.T) {
	t.Parallel()
	s := client.Open(t, plainWarnings)
	for _, c := range []struct {
		object string
		want   []string
	}{
		{`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
			"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"},"containers":[{"name":"c","image":"i"}]}}}}`, []string{}},
		{`{"apiVersion":"v1","kind":"Service","metadata":{"name":"x"},"spec":{"trafficDistribution":"PreferClose","ports":[{"port":80}]}}`,
			[]string{`spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"`}},
	} {
		_, at := path(t, json.RawMessage(c.object))
		at += "?fieldManager=x"
		if got := texts(t, s.Send(201, http.MethodPatch, at, warningTypeApply, c.object)); len(got) != 1 {
			t.Errorf("the create: %q", got)
		}
		for range 3 {
			if got := texts(t, s.Send(200, http.MethodPatch, at, warningTypeApply, c.object)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		}
	}
}

// TestPlatformNames checks that the warnings in the platform naming profile differ only in names.
func TestPlatformNames(t *testing.T) {
	t.Parallel()
	s := client.Open(t, acceptAmbiguousAddresses)
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","annotations":{"container.apparmor.security.beta.platform.io/c":"unconfined","scheduler.alpha.platform.io/critical-pod":""}},
		"spec":{"nodeSelector":{"beta.platform.io/instance-type":"a","beta.kubernetes.io/os":"linux"},"containers":[{"name":"c","image":"i"}],"hostAliases":[{"ip":"::ffff:1.2.3.4"}]}}`
	want := []string{
		`metadata.annotations[container.apparmor.security.beta.platform.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`,
		`spec.nodeSelector[beta.platform.io/instance-type]: deprecated since v1.17; use "node.platform.io/instance-type" instead`,
		`metadata.annotations[scheduler.alpha.platform.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead`,
		`spec.hostAliases[0].ip: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"`,
	}
	if got := texts(t, s.Send(201, http.MethodPost, "/api/v1/namespaces/default/pods", client.JSON, pod)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDuplicateOwners checks that a duplicate owner reference is removed, with a warning.
func TestDuplicateOwners(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	const owner = `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}`
	const owners = `{"metadata":{"name":"x","ownerReferences":[` + owner + `,{"apiVersion":"v1","kind":"Pod","name":"q","uid":"v"},` + owner + `]}}`
	const rest = "; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u"
	s.Send(201, http.MethodPost, configMaps, client.JSON, `{"metadata":{"name":"x"}}`)
	for _, w := range []struct {
		code                           int
		method, path, kind, body, want string
	}{
		{201, http.MethodPost, configMaps, client.JSON, strings.Replace(owners, `"x"`, `"y"`, 1), ".metadata.ownerReferences contains duplicate entries" + rest},
		{200, http.MethodPut, configMaps + "/x", client.JSON, owners, ".metadata.ownerReferences contains duplicate entries" + rest},
		{200, http.MethodPatch, configMaps + "/x", client.MergePatch, owners, ".metadata.ownerReferences contains duplicate entries after mutating admission happens" + rest},
	} {
		a := s.Send(w.code, w.method, w.path+"?dryRun=All", w.kind, w.body) // a dry run, so that the garbage collector does not delete the object for its absent owners
		if got := texts(t, a); !slices.Equal(got, []string{w.want}) {
			t.Errorf("%s: %q", w.method, got)
		}
		var object struct {
			Metadata struct{ OwnerReferences []any }
		}
		if err := json.Unmarshal(a.Body, &object); err != nil || len(object.Metadata.OwnerReferences) != 2 {
			t.Errorf("%s: %v in %s", w.method, err, a.Body)
		}
	}
}

// plainWarnings disables admission plugins that change Pods, because the warnings were recorded
// without them. It also disables controllers that would write or delete a case's objects.
func plainWarnings(c *daemon.Config) {
	c.Controllers = client.KeepingControllers
	c.Naming, c.Admission.Disable = "kubernetes", []string{"RuntimeClass", "ServiceAccount"}
	acceptAmbiguousAddresses(c)
}

func acceptAmbiguousAddresses(c *daemon.Config) {
	c.API.FeatureGates = daemon.Switches{"StrictIPCIDRValidation": false}
}
