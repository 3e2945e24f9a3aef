package openapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/openapi"
)

var update = flag.Bool("update", false, "write the excerpts anew")

func plain(t testing.TB, b []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func parsed(t testing.TB, d *openapi.Document) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(plain(t, d.Gzip(openapi.JSON)), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// excerpts lists document parts: v2 or a version 3 path, followed by the member names that lead to
// the part. GROUP represents Gadget's group, and PREFIX the prefix of its definitions.
var excerpts = []string{
	"v2 definitions PREFIX.api.storage.v1.Gadget",
	"v2 definitions PREFIX.api.storage.v1.GadgetSpec",
	"v2 definitions PREFIX.api.storage.v1.GadgetList",
	"v2 definitions PREFIX.api.storage.v1.Part",
	"v2 definitions PREFIX.api.storage.v1.PartOrBool",
	"v2 definitions PREFIX.apimachinery.pkg.util.intstr.IntOrString",
	"v2 definitions com.example.cron-tabs.stable.v1beta1.CronTab",
	"v2 definitions com.example.cron-tabs.stable.v1beta1.CronTabs",
	"v2 definitions PREFIX.apimachinery.pkg.apis.meta.v1.WatchEvent",
	"v2 paths /apis/GROUP/v1/namespaces/{namespace}/gadgets/{name}",
	"v2 paths /apis/GROUP/v1/gadgets get operationId",
	"v2 paths /apis/GROUP/v1/watch/namespaces/{namespace}/gadgets/{name}",
	"v2 paths /api/v1/olds post",
	"v2 paths /apis/stable.cron-tabs.example.com/v1beta1/namespaces/{namespace}/crontabs/{name} patch consumes",
	"v2 parameters dryRun",
	"v2 security",
	"apis/GROUP/v1 components schemas PREFIX.api.storage.v1.GadgetSpec",
	"apis/GROUP/v1 components schemas PREFIX.apimachinery.pkg.api.resource.Quantity",
	"apis/GROUP/v1 components schemas PREFIX.api.autoscaling.v1.Scale",
	"apis/GROUP/v1 paths /apis/GROUP/v1/namespaces/{namespace}/gadgets/{name}/scale put",
	"apis/GROUP/v1 paths /apis/GROUP/v1/namespaces/{namespace}/gadgets delete",
	"apis/GROUP paths",
	"version components schemas PREFIX.apimachinery.pkg.version.Info",
}

// TestExcerpts checks parts of the documents against testdata/PROFILE.txt. With -update it writes
// the file instead.
func TestExcerpts(t *testing.T) {
	for _, n := range []*meta.Naming{meta.Kubernetes, meta.Platform} {
		t.Run(n.Profile, func(t *testing.T) {
			d := documents(n)
			var got strings.Builder
			names := strings.NewReplacer("GROUP", n.Translate("storage.platform.io"), "PREFIX", prefixes[n.Profile])
			for _, e := range excerpts {
				fmt.Fprintf(&got, "# %s\n%s\n", e, excerpt(t, d, strings.Fields(e), names))
			}
			path := filepath.Join("testdata", n.Profile+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			wants, gots := strings.Split(string(want), "\n# "), strings.Split(got.String(), "\n# ")
			if len(wants) != len(gots) {
				t.Fatalf("%d excerpts, want %d", len(gots), len(wants))
			}
			for i := range gots {
				if gots[i] != wants[i] {
					t.Errorf("got\n%s\nwant\n%s", gots[i], wants[i])
				}
			}
		})
	}
}

var prefixes = map[string]string{"kubernetes": "io.k8s", "platform": "io.platform"}

func excerpt(t *testing.T, d *openapi.Documents, way []string, names *strings.Replacer) []byte {
	t.Helper()
	document := d.V2()
	if way[0] != "v2" {
		document = d.V3(names.Replace(way[0]))
	}
	var part any = parsed(t, document)
	for _, name := range way[1:] {
		part = part.(map[string]any)[names.Replace(name)]
	}
	text, err := json.MarshalIndent(part, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDocumentsAreDeterministic checks that concurrent clients get the same bytes and that the hash
// depends only on the kinds.
func TestDocumentsAreDeterministic(t *testing.T) {
	d, again := documents(meta.Platform), documents(meta.Platform)
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			if i := d.Index(); !bytes.Contains(i.Body, []byte(d.V3("apis/storage.platform.io/v1").Hash())) || len(i.Hash) != 64 {
				t.Errorf("index %s", i.Body)
			}
			d.V2().Gzip(openapi.Protobuf)
		})
	}
	asking.Wait()
	for _, f := range []openapi.Format{openapi.JSON, openapi.Protobuf} {
		if !bytes.Equal(d.V2().Gzip(f), again.V2().Gzip(f)) {
			t.Errorf("format %d differs from one time to the next", f)
		}
	}
	if d.Index().Hash != again.Index().Hash || d.V2().Hash() != again.V2().Hash() {
		t.Error("hashes differ from one time to the next")
	}
	if other := documents(meta.Kubernetes); other.V3("api/v1").Hash() == d.V3("api/v1").Hash() {
		t.Error("another document has the same hash")
	}
	if d.V3("api") == nil || d.V3("apis/none") != nil || d.V3("") != nil {
		t.Error("V3 finds what is not there")
	}
}

func TestIndex(t *testing.T) {
	d := documents(meta.Platform)
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(d.Index().Body, &index); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"api", "api/v1", "apis", "apis/stable.cron-tabs.example.com", "apis/stable.cron-tabs.example.com/v1beta1",
		"apis/storage.platform.io", "apis/storage.platform.io/v1", "version",
	}
	for _, path := range want {
		if got := index.Paths[path].ServerRelativeURL; got != "/openapi/v3/"+path+"?hash="+d.V3(path).Hash() {
			t.Errorf("%s is at %q", path, got)
		}
	}
	if len(index.Paths) != len(want) {
		t.Errorf("%d paths, want %d: %v", len(index.Paths), len(want), index.Paths)
	}
}

// TestOperationNames checks that operation IDs equal those of kube-apiserver.
func TestOperationNames(t *testing.T) {
	paths := parsed(t, documents(meta.Kubernetes).V2())["paths"].(map[string]any)
	gadgets := "/apis/storage.k8s.io/v1/namespaces/{namespace}/gadgets"
	cases := []struct{ path, method, id, tag string }{
		{"/api/", "get", "getCoreAPIVersions", "core"},
		{"/apis/", "get", "getAPIVersions", "apis"},
		{"/apis/storage.k8s.io/", "get", "getStorageAPIGroup", "storage"},
		{"/apis/storage.k8s.io/v1/", "get", "getStorageV1APIResources", "storage_v1"},
		{"/version/", "get", "getCodeVersion", "version"},
		{"/apis/storage.k8s.io/v1/gadgets", "get", "listStorageV1GadgetForAllNamespaces", "storage_v1"},
		{"/apis/storage.k8s.io/v1/watch/gadgets", "get", "watchStorageV1GadgetListForAllNamespaces", "storage_v1"},
		{"/apis/storage.k8s.io/v1/watch/namespaces/{namespace}/gadgets", "get", "watchStorageV1NamespacedGadgetList", "storage_v1"},
		{"/apis/storage.k8s.io/v1/watch/namespaces/{namespace}/gadgets/{name}", "get", "watchStorageV1NamespacedGadget", "storage_v1"},
		{gadgets, "get", "listStorageV1NamespacedGadget", "storage_v1"},
		{gadgets, "post", "createStorageV1NamespacedGadget", "storage_v1"},
		{gadgets, "delete", "deleteStorageV1CollectionNamespacedGadget", "storage_v1"},
		{gadgets + "/{name}", "get", "readStorageV1NamespacedGadget", "storage_v1"},
		{gadgets + "/{name}", "put", "replaceStorageV1NamespacedGadget", "storage_v1"},
		{gadgets + "/{name}", "patch", "patchStorageV1NamespacedGadget", "storage_v1"},
		{gadgets + "/{name}", "delete", "deleteStorageV1NamespacedGadget", "storage_v1"},
		{gadgets + "/{name}/status", "put", "replaceStorageV1NamespacedGadgetStatus", "storage_v1"},
		{gadgets + "/{name}/scale", "get", "readStorageV1NamespacedGadgetScale", "storage_v1"},
		{"/api/v1/olds", "post", "createCoreV1Old", "core_v1"},
		{
			"/apis/stable.cron-tabs.example.com/v1beta1/namespaces/{namespace}/crontabs", "get",
			"listStableCronTabsExampleComV1beta1NamespacedCronTab", "stableCronTabsExampleCom_v1beta1",
		},
	}
	for _, c := range cases {
		item, _ := paths[c.path].(map[string]any)
		o, _ := item[c.method].(map[string]any)
		if o["operationId"] != c.id || fmt.Sprint(o["tags"]) != "["+c.tag+"]" {
			t.Errorf("%s %s is %v of %v, want %s of %s", c.method, c.path, o["operationId"], o["tags"], c.id, c.tag)
		}
	}
	for _, path := range []string{
		"/api/v1/olds/{name}", "/api/v1/watch/olds", "/apis/storage.k8s.io/v1/watch/namespaces/{namespace}/gadgets/{name}/scale",
		"/apis/stable.cron-tabs.example.com/v1beta1/watch/crontabs",
	} {
		if paths[path] != nil {
			t.Errorf("%s has no operations", path)
		}
	}
}

func TestMembersAreUnique(t *testing.T) {
	d := documents(meta.Platform)
	all := []*openapi.Document{d.V2()}
	for _, path := range []string{"api/v1", "apis/storage.platform.io/v1", "apis/stable.cron-tabs.example.com/v1beta1", "version"} {
		all = append(all, d.V3(path))
	}
	for _, document := range all {
		decoder := json.NewDecoder(bytes.NewReader(plain(t, document.Gzip(openapi.JSON))))
		if err := unique(decoder, ""); err != nil {
			t.Error(err)
		}
	}
}

func unique(d *json.Decoder, path string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[any]bool{}
	for d.More() {
		below := path
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if below += fmt.Sprint("/", name); seen[name] {
				return fmt.Errorf("%s is there twice", below)
			}
			seen[name] = true
		}
		if err := unique(d, below); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
