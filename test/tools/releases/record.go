package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// recorded is the content of recorded.json.
type recorded struct {
	Objects map[string]json.RawMessage // served objects at the end, by path
	Gone    []string                   // paths of deleted objects
	From    uint64                     // resource version from the first run
	Told    []json.RawMessage          // events of a ConfigMap watch that starts at From
	Newest  uint64                     // highest resource version
}

const (
	core       = "/api/v1/namespaces/team"
	configMaps = core + "/configmaps"
	widgets    = "/apis/e.com/v1/namespaces/team/widgets"
	merge      = "application/merge-patch+json"
	apply      = "application/apply-patch+yaml"
	last       = configMaps + "/last" // written last
)

type write struct{ method, path, contentType, body string }

// firstWrites lists the writes of the first run, to built-in resources of many kinds and a custom
// resource.
var firstWrites = []write{
	{"POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"team","labels":{"owner":"us"}}}`},
	{"PATCH", configMaps + "/applied?fieldManager=one", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"a":"1","b":"1"}}`},
	{"PATCH", configMaps + "/applied?fieldManager=two", apply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied","labels":{"of":"two"}},"data":{"c":"2"}}`},
	{"POST", configMaps, client.JSON, `{"metadata":{"name":"changing"},"data":{"n":"1","text":"<&> \u00e9 \u2028"}}`},
	{"POST", configMaps, client.JSON, `{"metadata":{"name":"going"},"immutable":true,"data":{"n":"1"}}`},
	{"POST", configMaps, client.JSON, `{"metadata":{"name":"gone"},"binaryData":{"b":"AAECAw=="}}`},
	{"DELETE", configMaps + "/gone", "", ""},
	{"POST", core + "/secrets", client.JSON, `{"metadata":{"name":"token"},"type":"Opaque","stringData":{"k":"v"}}`},
	{"POST", core + "/services", client.JSON, `{"metadata":{"name":"front"},"spec":{"selector":{"a":"b"},"ports":[{"port":80,"targetPort":"http"}]}}`},
	{"POST", core + "/serviceaccounts", client.JSON, `{"metadata":{"name":"robot"}}`},
	{"POST", core + "/pods", client.JSON, `{"metadata":{"name":"leaving","finalizers":["e.com/wait"]},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1500m","memory":"1Gi"}}}]}}`},
	{"POST", "/apis/apps/v1/namespaces/team/deployments", client.JSON, `{"metadata":{"name":"web"},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"E","value":"f"}]}]}}}}`},
	{"PATCH", "/apis/apps/v1/namespaces/team/deployments/web/status", merge, `{"status":{"replicas":2,"observedGeneration":1}}`},
	{"POST", "/apis/batch/v1/namespaces/team/cronjobs", client.JSON, `{"metadata":{"name":"nightly"},"spec":{"schedule":"0 0 * * *","suspend":true,"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`},
	{"POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/team/roles", client.JSON, `{"metadata":{"name":"reader"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}`},
	{"POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings", client.JSON, `{"metadata":{"name":"readers"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"reader"},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"team"}]}`},
	{"POST", "/apis/coordination.k8s.io/v1/namespaces/team/leases", client.JSON, `{"metadata":{"name":"lead"},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"renewTime":"2026-11-21T10:00:00.000001Z"}}`},
	{"POST", "/apis/networking.k8s.io/v1/namespaces/team/ingresses", client.JSON, `{"metadata":{"name":"door"},"spec":{"rules":[{"host":"e.com","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"front","port":{"number":80}}}}]}}]}}`},
	{"POST", "/apis/storage.k8s.io/v1/storageclasses", client.JSON, `{"metadata":{"name":"team-fast"},"provisioner":"e.com/p"}`},
	{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", client.JSON, `{"metadata":{"name":"widgets.e.com"},"spec":{"group":"e.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","maximum":9,"default":3},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},"status":{"type":"object","properties":{"ready":{"type":"boolean"}}}}}}},{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`},
	{"POST", widgets, client.JSON, `{"apiVersion":"e.com/v1","kind":"Widget","metadata":{"name":"small"},"spec":{"free":{"x":[1,2.5,null]}}}`},
	{"PATCH", widgets + "/small/status", merge, `{"status":{"ready":true}}`},
	{"POST", widgets, client.JSON, `{"apiVersion":"e.com/v1","kind":"Widget","metadata":{"name":"gone"},"spec":{"size":9}}`},
}

var secondWrites = []write{
	{"DELETE", core + "/pods/leaving?gracePeriodSeconds=0", "", ""},
	{"DELETE", widgets + "/gone", "", ""},
	{"PATCH", "/apis/apps/v1/namespaces/team/deployments/web/scale", merge, `{"spec":{"replicas":5}}`},
	{"PATCH", configMaps + "/changing", merge, `{"data":{"n":"2"}}`},
	{"DELETE", configMaps + "/going", "", ""},
	{"POST", configMaps, client.JSON, `{"metadata":{"name":"coming","labels":{"of":"two"}},"data":{"n":"1"}}`},
	{"PATCH", configMaps + "/changing", merge, `{"data":{"n":"3"}}`},
	{"POST", configMaps, client.JSON, `{"metadata":{"name":"last"}}`},
}

// A writer sends writes to a release and records the results.
type writer struct {
	*client.Client
	recorded
	snapshots string // directory of the snapshots
	lives     int
}

func (w *writer) first(ctx context.Context) error {
	if err := w.write(ctx, firstWrites); err != nil {
		return err
	}
	if err := w.fill(ctx); err != nil {
		return err
	}
	list, err := w.List(ctx, configMaps, nil)
	w.From = list.Version
	return err
}

// fill extends the journal until the release writes a snapshot, which contains all writes before
// fill. Later writes are only in the journal.
func (w *writer) fill(ctx context.Context) error {
	for n := range 2 {
		big := client.ConfigMap("big", nil, map[string]string{"text": strings.Repeat(strconv.Itoa(n), 300<<10)})
		if a, err := w.Create(ctx, configMaps, big); err != nil || a.Code != 201 {
			return fmt.Errorf("%v, %w", a, err)
		}
		if a, err := w.Delete(ctx, configMaps+"/big", nil); err != nil || a.Code != 200 {
			return fmt.Errorf("%v, %w", a, err)
		}
	}
	for ctx.Err() == nil {
		if found, err := filepath.Glob(filepath.Join(w.snapshots, "*.manifest")); err != nil || len(found) > 0 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return ctx.Err()
}

// second performs the writes of the second run, and records objects and events.
func (w *writer) second(ctx context.Context) error {
	if err := w.write(ctx, secondWrites); err != nil {
		return err
	}
	for _, r := range slices.Concat(firstWrites, secondWrites) {
		if err := w.keep(ctx, r); err != nil {
			return err
		}
	}
	watch, err := w.Watch(ctx, configMaps, url.Values{"resourceVersion": {strconv.FormatUint(w.From, 10)}})
	if err != nil {
		return err
	}
	defer watch.Close()
	for {
		e, err := watch.Next()
		if err != nil {
			return err
		}
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		w.Told = append(w.Told, text)
		w.Newest = max(w.Newest, e.Object.Version())
		if e.Object.Name() == "last" {
			return nil
		}
	}
}

// write sends requests. It logs rejected requests, because an old release may not support them or
// their objects.
func (w *writer) write(ctx context.Context, all []write) error {
	for _, r := range all {
		var a client.Answer
		var err error
		for range 50 { // a new CRD is not served immediately
			a, err = w.Do(ctx, r.method, r.path, r.contentType, []byte(r.body))
			if err != nil || a.Code != 404 || !strings.HasPrefix(r.path, widgets) {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err != nil {
			return err
		}
		if a.Code >= 300 {
			fmt.Fprintf(os.Stderr, "%s %s: %.300s\n", r.method, r.path, a.String())
		}
	}
	return nil
}

// keep records the object that a request wrote, or the path of the object that it deleted.
func (w *writer) keep(ctx context.Context, r write) error {
	path, _, _ := strings.Cut(r.path, "?")
	if r.method == "POST" {
		var o client.Object
		if err := json.Unmarshal([]byte(r.body), &o); err != nil {
			return err
		}
		path += "/" + o.Name()
	}
	for _, sub := range []string{"/status", "/scale"} {
		path = strings.TrimSuffix(path, sub)
	}
	a, err := w.Get(ctx, path)
	if err != nil {
		return err
	}
	switch {
	case a.Code == 200:
		w.Objects[path] = a.Body
		w.Newest = max(w.Newest, a.Object().Version())
	case a.Code == 404 && r.method == "DELETE":
		w.Gone = append(w.Gone, path)
	}
	return nil
}

func (r recorded) paths() []string { return slices.Sorted(maps.Keys(r.Objects)) }
