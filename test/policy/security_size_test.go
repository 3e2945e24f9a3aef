package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestSizes checks that the size limit applies to the resulting object. A request is rejected as
// soon as its object is too large, and other requests are not affected.
func TestSizes(t *testing.T) {
	dir := t.TempDir()
	s := restart(t, dir)
	expect(t, s, 201, "POST", configMaps, typeJSON, configMap("a"))
	definition := strings.NewReplacer("k8s.io", "platform.io", "x-kubernetes", "x-platform", `"<<<<"`, `"`+strings.Repeat("d", 4096)+`"`).Replace(blobDefinition)
	expect(t, s, 201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", typeJSON, definition)
	expect(t, s, 201, "POST", blobs, typeJSON, `{"apiVersion":"hunt.example.com/v1","kind":"Blob","metadata":{"name":"w"},"data":{"x":"`+strings.Repeat("x", 700_000)+`"}}`)
	blob := func(rest string) string {
		return `{"apiVersion":"hunt.example.com/v1","kind":"Blob","metadata":{"name":"v"},` + rest + `}`
	}
	items := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	var copies []string
	for i := range 3 {
		copies = append(copies, fmt.Sprintf(`{"op":"copy","from":"/data/x","path":"/data/y%d"}`, i))
	}
	for _, test := range []struct {
		name, method, path, kind, body string
		codes                          []int
	}{
		{"1.4 MiB of data", "POST", blobs, typeJSON, blob(`"data":"` + strings.Repeat("x", 1_450_000) + `"`), []int{201}},
		{"1.6 MiB of data", "PATCH", blobs + "/v", typeMerge, `{"data":"` + strings.Repeat("x", 1_600_000) + `"}`, []int{413}},
		{"400 kB that take six times as much", "POST", blobs, typeJSON, strings.Replace(blob(`"data":"`+strings.Repeat("<", 400_000)+`"`), `"v"`, `"k"`, 1), []int{201}},
		{"600 kB that take six times as much", "POST", blobs, typeJSON, strings.Replace(blob(`"data":"`+strings.Repeat("<", 600_000)+`"`), `"v"`, `"u"`, 1), []int{413}},
		{"the same in YAML", "POST", blobs, typeYAML, "#\n" + strings.Replace(blob(`"data":"`+strings.Repeat("<", 600_000)+`"`), `"v"`, `"u"`, 1), []int{413}},
		{"control characters", "POST", blobs, typeJSON, strings.Replace(blob(`"data":"`+strings.Repeat(`\u0001`, 510_000)+`"`), `"v"`, `"u"`, 1), []int{413}},
		{"defaults of 100,000 items", "POST", blobs, typeJSON, strings.Replace(blob(`"items":`+items(100_000, "{}")), `"v"`, `"u"`, 1), []int{413}},
		{"defaults of 1,000,000 items by an apply", "PATCH", blobs + "/n?fieldManager=m", typeApply, strings.Replace(blob(`"items":`+items(1_000_000, "{}")), `"v"`, `"n"`, 1), []int{413}},
		{"a JSON patch that copies", "PATCH", blobs + "/v", typeJSONPatch, `[{"op":"copy","from":"/data","path":"/x"},{"op":"add","path":"/data","value":{"x":"` + strings.Repeat("x", 700_000) + `"}},` + strings.Join(copies, ",") + `]`, []int{413}},
		{"a merge patch that adds", "PATCH", blobs + "/v", typeMerge, `{"status":"` + strings.Repeat("x", 200_000) + `","items":[{"a":"` + strings.Repeat("x", 200_000) + `"}]}`, []int{413}},
		{"very many containers", "POST", "/api/v1/namespaces/default/pods", typeJSON, `{"metadata":{"name":"p"},"spec":{"containers":` + items(1_000_000, "{}") + `}}`, []int{413, 422}},
		{"very many owners", "PUT", configMaps + "/a", typeJSON, `{"metadata":{"name":"a","ownerReferences":` + items(60_000, `{"controller":true,"uid":"u"}`) + `}}`, []int{413, 422}},
	} {
		var got string
		bytes := allocated(func() {
			answer, err := s.Do(t.Context(), test.method, test.path, test.kind, []byte(test.body))
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			got = answer.String()
		})
		ok := false
		for _, code := range test.codes {
			ok = ok || strings.HasPrefix(got, fmt.Sprint(code))
		}
		if !ok {
			t.Errorf("%s: %.300s, want %v", test.name, got, test.codes)
		}
		if len(got) > 4<<20 {
			t.Errorf("%s: the answer has %d bytes", test.name, len(got))
		}
		if bytes > 512<<20 {
			t.Errorf("%s: allocated %d MiB", test.name, bytes>>20)
		}
		t.Logf("%s: %d MiB, %.80s", test.name, bytes>>20, got)
	}
}

// TestLargeBatch checks that concurrent large writes are stored in several batches, and that none
// is lost.
func TestLargeBatch(t *testing.T) {
	dir := t.TempDir()
	s := restart(t, dir)
	const writers = 24 // together more than the limit of a batch
	data := strings.Repeat("x", 1_000_000)
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			body, _ := json.Marshal(map[string]any{"metadata": map[string]any{"name": fmt.Sprint("big", i)}, "data": map[string]string{"x": data}})
			for try := range 2 { // the second write also stores the managed fields of the first
				method, path, code := "POST", configMaps, 201
				if try > 0 {
					method, path, code = "PATCH", fmt.Sprintf("%s/big%d", configMaps, i), 200
					body = []byte(`{"metadata":{"labels":{"a":"b"}}}`)
				}
				kind := typeJSON
				if method == "PATCH" {
					kind = typeMerge
				}
				answer, err := s.Do(t.Context(), method, path, kind, body)
				if err != nil || answer.Code != code {
					t.Errorf("%s %s: %v %.300s", method, path, err, answer.String())
				}
			}
		})
	}
	wait.Wait()
	s.Stop(t)
	s = restart(t, dir)
	if n := len(itemsOf(t, s, configMaps)); n != writers {
		t.Errorf("of %d objects %d are there", writers, n)
	}
}
