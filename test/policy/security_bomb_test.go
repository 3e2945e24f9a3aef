package policy

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// allocated returns the number of bytes that the process allocates while f runs. Other goroutines
// must be idle.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestBombs checks that rejecting expanding, deeply nested and large bodies takes little memory.
func TestBombs(t *testing.T) {
	v := start(t)
	v.must(201, "POST", configMaps, typeJSON, configMap("a"))
	const (
		yaml  = "application/yaml"
		merge = "application/merge-patch+json"
		json  = "application/json-patch+json"
		most  = 64 << 20
	)
	aliases := "a: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for n := range 12 {
		aliases += fmt.Sprintf("b%d: &a%d [%s]\n", n, n+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", n), 10), ","))
	}
	operation := `{"op":"add","path":"/data","value":{}},`
	doubling := `{"op":"add","path":"/metadata/annotations","value":{"a":"` + strings.Repeat("x", 10000) + `"}},`
	for n := range 40 {
		doubling += fmt.Sprintf(`{"op":"copy","from":"/metadata","path":"/metadata/annotations/c%d"},`, n)
	}
	patches := func(ops string) string { return "[" + strings.TrimSuffix(ops, ",") + "]" }
	for _, test := range []struct {
		name, method, path, kind, body string
		codes                          []int
	}{
		{"body over the limit", "POST", configMaps, typeJSON, strings.Repeat(" ", 3<<20+1), []int{413}},
		{"deep lists", "POST", configMaps, typeJSON, strings.Repeat("[", 1<<20), []int{400}},
		{"deep objects", "POST", configMaps, typeJSON, strings.Repeat(`{"a":`, 500_000), []int{400}},
		{"deep unknown field", "POST", configMaps, typeJSON, `{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", []int{400}},
		{"deep YAML", "POST", configMaps, yaml, strings.Repeat("[", 100_000), []int{400}},
		{"indented YAML", "POST", configMaps, yaml, strings.Repeat("- ", 100_000), []int{400}},
		{"YAML aliases", "POST", configMaps, yaml, aliases, []int{400}},
		{"YAML alias to itself", "POST", configMaps, yaml, "a: &a [*a]\n", []int{400}},
		{"deep patch", "PATCH", configMaps + "/a", merge, strings.Repeat(`{"a":`, 500_000), []int{400}},
		{"too many operations", "PATCH", configMaps + "/a", json, patches(strings.Repeat(operation, 10_001)), []int{413}},
		{"copy amplification", "PATCH", configMaps + "/a", json, patches(doubling), []int{413}},
		{"duplicate keys", "POST", configMaps, typeJSON, `{"metadata":{"name":"dup"},"data":{` + strings.TrimSuffix(strings.Repeat(`"a":"b",`, 100_000), ",") + `}}`, []int{201, 400}},
	} {
		var code int
		var text string
		bytes := allocated(func() { code, text = v.do(test.method, test.path, test.kind, test.body) })
		ok := false
		for _, want := range test.codes {
			ok = ok || code == want
		}
		if !ok {
			t.Errorf("%s: %d, want %v: %.200s", test.name, code, test.codes, text)
		}
		if client.Soak() && bytes > most { // only if nothing else allocates
			t.Errorf("%s: allocated %d MiB", test.name, bytes>>20)
		}
		if len(text) > 64<<10 {
			t.Errorf("%s: the answer has %d bytes", test.name, len(text))
		}
	}
	v.must(200, "GET", configMaps+"/a", "", "")
}
