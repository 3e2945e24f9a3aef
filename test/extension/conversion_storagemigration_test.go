package extension

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

const migrations = "/apis/storagemigration.platform.io/v1beta1/storageversionmigrations"

// withMigrations enables StorageVersionMigrations, which are disabled by default.
func withMigrations(c *daemon.Config) {
	c.API.FeatureGates = daemon.Switches{"StorageVersionMigrator": true}
	c.API.RuntimeConfig = daemon.Switches{"storagemigration.platform.io/v1beta1": true}
}

func (s conversionSession) migrate(name, group, resource string) {
	s.T.Helper()
	s.Send(201, "POST", migrations, client.JSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"resource":{"group":%q,"resource":%q}}}`, name, group, resource))
}

// conditions formats the True conditions of a migration, including reason and message.
func conditions(o client.Object) (all []string) {
	list, _ := o.At("status.conditions").([]any)
	for _, c := range list {
		if c := c.(map[string]any); c["status"] == "True" {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", c["type"], c["reason"], c["message"])))
		}
	}
	return all
}

// wantMigration waits until a migration has exactly one True condition, with text that starts with
// want.
func (s conversionSession) wantMigration(name, want string) client.Object {
	s.T.Helper()
	var o client.Object
	client.Eventually(s.T, func() error {
		a, err := s.Get(s.Ctx, migrations+"/"+name)
		if err != nil {
			return err
		}
		if o = a.Object(); len(conditions(o)) != 1 || !strings.HasPrefix(conditions(o)[0], want) {
			return errors.New(a.String())
		}
		return nil
	})
	return o
}

// wantDefinition checks the stored versions and the StorageMigrating condition of a CRD.
func (s conversionSession) wantDefinition(plural, versions, condition string) {
	s.T.Helper()
	o := s.Send(200, "GET", conversionDefinitions+"/"+plural+".example.com", "", "").Object()
	s.want(o["status"], `"storedVersions":`+versions)
	list, _ := o.At("status.conditions").([]any)
	for _, c := range list {
		if c := c.(map[string]any); c["type"] == "StorageMigrating" {
			if got := fmt.Sprintf("%s %s %s", c["status"], c["reason"], c["message"]); got != condition || c["observedGeneration"] != o.Metadata()["generation"] {
				s.T.Errorf("%s of generation %v, want %s", got, c["observedGeneration"], condition)
			}
			return
		}
	}
	s.T.Errorf("%v does not have the condition", o)
}

// TestStorageVersionMigration checks that a migration rewrites only objects in the old storage
// version, and removes that version from the CRD's storedVersions.
func TestStorageVersionMigration(t *testing.T) {
	t.Parallel()
	s, h := serveConversion(t, withMigrations), startConversion(t)
	s.define(routes{clientConfig: h.clientConfig()})
	for i := range 20 {
		s.Send(201, "POST", routesV1, client.JSON, v1Conversion(fmt.Sprintf("r%d", i), "host", "80"))
	}
	owned := s.Send(200, "PATCH", routesV1+"/r0?fieldManager=me", conversionTypeApply, v1Conversion("r0", "host", "80")).Object()
	s.redefine(200, routes{clientConfig: h.clientConfig(), stored: "v2"})
	fresh := s.Send(201, "POST", routesV2, client.JSON, v2("fresh", "host:1")).Object()
	s.migrate("routes", "example.com", "routes")
	done := s.wantMigration("routes", "Succeeded StorageVersionMigrationSucceeded")
	if version, _ := done.At("status.resourceVersion").(string); version == "" {
		t.Error("no version in", done)
	}

	h.set(func(review, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	s.wantSpec(routesV2+"/r7", `{"hostPort":"host:80","proto":"tcp"}`)
	if o := s.wantSpec(routesV2+"/fresh", `{"hostPort":"host:1"}`); o.Version() != fresh.Version() {
		t.Error("an object of the new version was written again")
	}
	if o := s.Send(200, "GET", routesV2+"/r0", "", "").Object(); fmt.Sprint(o.Metadata()["managedFields"]) != fmt.Sprint(owned.Metadata()["managedFields"]) {
		t.Errorf("owners of %v, before: %v", o, owned)
	}
	s.wantDefinition("routes", `["v2"]`, "False MigrationSucceeded The migration has succeeded and the stored versions have been updated")
	s.redefine(200, routes{clientConfig: h.clientConfig(), versions: "v2", stored: "v2"})
	s.wantSpec(routesV2+"/r19", `{"hostPort":"host:80","proto":"tcp"}`)
}

// TestStorageVersionMigrationWithoutWebhook migrates a CRD with conversion strategy None, and a
// built-in resource, which needs no rewrite. One migration is created before its CRD.
func TestStorageVersionMigrationWithoutWebhook(t *testing.T) {
	t.Parallel()
	s := serveConversion(t, withMigrations)
	s.migrate("early", "example.com", "routes")
	s.define(routes{strategy: "None"})
	s.wantMigration("early", "Succeeded")
	before := s.Send(201, "POST", routesV1, client.JSON, v1Conversion("a", "host", "80")).Object()
	config := s.Send(201, "POST", "/api/v1/namespaces/default/configmaps", client.JSON, `{"metadata":{"name":"a"}}`).Object()
	s.redefine(200, routes{strategy: "None", stored: "v2"})
	s.migrate("late", "example.com", "routes")
	s.migrate("config", "", "configmaps")
	s.wantMigration("late", "Succeeded")
	s.wantMigration("config", "Succeeded")
	if o := s.Send(200, "GET", routesV2+"/a", "", "").Object(); o.Version() == before.Version() {
		t.Errorf("%s was not written again", o)
	}
	if o := s.Send(200, "GET", "/api/v1/namespaces/default/configmaps/a", "", "").Object(); o.Version() != config.Version() {
		t.Errorf("%s was written again", o)
	}
	s.redefine(200, routes{strategy: "None", stored: "v2", versions: "v2"})
	s.wantSpec(routesV2+"/a", `{"proto":"tcp"}`)
}

// TestFailedStorageVersionMigration checks that a migration fails if an object is invalid. The
// condition contains the object's name and the error.
func TestFailedStorageVersionMigration(t *testing.T) {
	t.Parallel()
	s := serveConversion(t, withMigrations)
	version := func(name string, stored bool, rule string) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object","properties":{"n":{"type":"integer"%s}}}}}`, name, stored, rule)
	}
	definition := func(versions ...string) string {
		return `{"apiVersion":"apiextensions.platform.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"counters.example.com"},"spec":{"group":"example.com",
			"scope":"Cluster","names":{"plural":"counters","kind":"Counter"},"versions":[` + strings.Join(versions, ",") + `]}}`
	}
	s.Send(201, "POST", conversionDefinitions, client.JSON, definition(version("v1", true, "")))
	s.Send(201, "POST", "/apis/example.com/v1/counters", client.JSON, `{"apiVersion":"example.com/v1","kind":"Counter","metadata":{"name":"c"},"n":1}`)
	s.Send(200, "PATCH", conversionDefinitions+"/counters.example.com?fieldManager=m&force=true", conversionTypeApply,
		definition(version("v1", false, ""), version("v2", true, `,"x-platform-validations":[{"rule":"self > oldSelf","message":"must grow"}]`)))
	s.migrate("counters", "example.com", "counters")
	const want = `Failed StorageVersionMigrationFailed 1/1 not yet migrated. migration encountered unhandled error: Counter.example.com "c" is invalid: n: Invalid value: 1: must grow`
	if o := s.wantMigration("counters", "Failed"); !slices.Equal(conditions(o), []string{want}) {
		t.Errorf("%q, want %q", conditions(o), want)
	}
	s.wantDefinition("counters", `["v1","v2"]`, "False MigrationFailed The migration has failed")
}

// TestRestartedStorageVersionMigration stops a server while a webhook blocks a migration. The
// migration must continue with the remaining objects after the restart.
func TestRestartedStorageVersionMigration(t *testing.T) {
	t.Parallel()
	dir, h := t.TempDir(), startConversion(t)
	first := conversionSession{client.Session{Server: client.Serve(t, dir, withMigrations), Ctx: t.Context(), T: t}}
	first.define(routes{clientConfig: h.clientConfig()})
	for i := range 10 {
		first.Send(201, "POST", routesV1, client.JSON, v1Conversion(fmt.Sprintf("r%d", i), "host", "80"))
	}
	first.redefine(200, routes{clientConfig: h.clientConfig(), stored: "v2"})
	h.set(func(r review, w http.ResponseWriter, q *http.Request) {
		if strings.Contains(fmt.Sprint(r.Request.Objects), "name:r5") {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		convertRoutes(r, w, q)
	})
	first.migrate("routes", "example.com", "routes")
	first.wantMigration("routes", "Running MigrationRunning The migration is running")
	first.wantDefinition("routes", `["v1","v2"]`, "True MigrationRunning Migration routes is running")
	written := map[string]uint64{}
	client.Eventually(t, func() error {
		for i := range 10 {
			name := fmt.Sprintf("r%d", i)
			if i == 5 {
				continue
			}
			o := first.Send(200, "GET", routesV2+"/"+name, "", "").Object()
			if old := first.Send(200, "GET", routesV1+"/"+name, "", "").Object(); old.Version() != o.Version() {
				return fmt.Errorf("%s changes", name)
			}
			written[name] = o.Version()
		}
		return nil
	})
	first.Stop(t)

	h.set(convertRoutes)
	second := conversionSession{client.Session{Server: client.Serve(t, dir, withMigrations), Ctx: t.Context(), T: t}}
	second.wantMigration("routes", "Succeeded")
	second.wantDefinition("routes", `["v2"]`, "False MigrationSucceeded The migration has succeeded and the stored versions have been updated")
	h.set(func(review, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for i := range 10 {
		second.wantSpec(fmt.Sprintf("%s/r%d", routesV2, i), `{"hostPort":"host:80","proto":"tcp"}`)
	}
}
