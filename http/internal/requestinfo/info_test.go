package requestinfo

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

func TestRequestInfo(t *testing.T) {
	cases := []struct {
		method, target string
		want           Info
	}{
		{"GET", "/api/v1/namespaces/x/configmaps/a", Info{IsResource: true, Verb: "get", Version: "v1", Namespace: "x", Resource: "configmaps", Name: "a", inNamespace: true}},
		{"GET", "/api/v1/configmaps", Info{IsResource: true, Verb: "list", Version: "v1", Resource: "configmaps"}},
		{"GET", "/api/v1/configmaps?watch=1", Info{IsResource: true, Verb: "watch", Version: "v1", Resource: "configmaps"}},
		{"GET", "/api/v1/watch/namespaces/x/pods/p", Info{IsResource: true, Verb: "watch", Version: "v1", Namespace: "x", Resource: "pods", Name: "p", legacyWatch: true, inNamespace: true}},
		{"GET", "/api/v1/namespaces", Info{IsResource: true, Verb: "list", Version: "v1", Resource: "namespaces"}},
		{"PUT", "/api/v1/namespaces/x", Info{IsResource: true, Verb: "update", Version: "v1", Namespace: "x", Resource: "namespaces", Name: "x"}},
		{"GET", "/api/v1/namespaces/x/namespaces/x", Info{IsResource: true, Verb: "get", Version: "v1", Namespace: "x", Resource: "namespaces", Name: "x", inNamespace: true}},
		{"PUT", "/api/v1/namespaces/x/finalize", Info{IsResource: true, Verb: "update", Version: "v1", Namespace: "x", Resource: "namespaces", Name: "x", Subresource: "finalize"}},
		{"PATCH", "/api/v1/namespaces/x/status", Info{IsResource: true, Verb: "patch", Version: "v1", Namespace: "x", Resource: "namespaces", Name: "x", Subresource: "status"}},
		{"GET", "/api/v1/namespaces/x/status/y", Info{IsResource: true, Verb: "get", Version: "v1", Namespace: "x", Resource: "status", Name: "y", inNamespace: true}},
		{"DELETE", "/apis/apps/v1/namespaces/x/deployments", Info{IsResource: true, Verb: "deletecollection", Group: "apps", Version: "v1", Namespace: "x", Resource: "deployments", inNamespace: true}},
		{"DELETE", "/apis/apps/v1/namespaces/x/deployments/d", Info{IsResource: true, Verb: "delete", Group: "apps", Version: "v1", Namespace: "x", Resource: "deployments", Name: "d", inNamespace: true}},
		{"POST", "/api/v1/namespaces/x/pods/p/binding", Info{IsResource: true, Verb: "create", Version: "v1", Namespace: "x", Resource: "pods", Name: "p", Subresource: "binding", inNamespace: true}},
		{"GET", "/api/v1/nodes/n/status/more", Info{IsResource: true, Verb: "get", Version: "v1", Resource: "nodes", Name: "n", Subresource: "status", extraSegments: true}},
		{"GET", "/apis/apps/v1", Info{Verb: "get"}},
		{"POST", "/version", Info{Verb: "post"}},
		{"OTHER", "/api/v1/nodes", Info{IsResource: true, Version: "v1", Resource: "nodes"}},
	}
	for _, c := range cases {
		var tg Target
		if err := tg.Parse([]byte(c.target), nil); err != nil {
			t.Errorf("%s: %v", c.target, err)
			continue
		}
		c.want.Method = c.method
		c.want.Path, _, _ = strings.Cut(c.target, "?")
		var got Info
		got.Parse(c.method, &tg)
		if got.segments = 0; got != c.want {
			t.Errorf("%s %s\ngot  %+v\nwant %+v", c.method, c.target, got, c.want)
		}
	}
}

// TestBehind: the path after a subresource is found, however the path is escaped and however long.
func TestBehind(t *testing.T) {
	long := "/a/b/c/d/e/f/g/h/i/j/k"
	for target, want := range map[string][2]string{
		"/api/v1/namespaces/n/services/https:s:1/proxy":          {"", ""},
		"/api/v1/namespaces/n/services/s/proxy?a=/b":             {"", ""},
		"/api/v1/namespaces/n/services/s/proxy/":                 {"/", "/"},
		"/api/v1/namespaces/n/services/s/proxy/x%20y/z/?a=/b":    {"/x y/z/", "/x%20y/z/"},
		"/api/v1/namespaces/n/services/%73/proxy" + long + "%61": {long + "a", long + "%61"},
		"/api/v1/nodes/n/proxy/metrics":                          {"/metrics", "/metrics"},
		"/apis/g/v1/namespaces/n/things/t/proxy/x":               {"/x", "/x"},
	} {
		var tg Target
		var i Info
		if err := tg.Parse([]byte(target), nil); err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		i.Parse("GET", &tg)
		path, raw := tg.Behind(i.Segments())
		if path != want[0] || raw != want[1] || i.Subresource != "proxy" || !i.LongRunning() || !strings.HasSuffix(tg.Path, want[0]) {
			t.Errorf("%s: %q %q, %+v", target, path, raw, i)
		}
	}
}

func BenchmarkRequestInfo(b *testing.B) {
	raw := []byte("/api/v1/namespaces/default/configmaps/some-name?resourceVersion=0")
	b.ReportAllocs()
	for b.Loop() {
		var tg Target
		must.Succeed(b, tg.Parse(raw, nil))
		var i Info
		i.Parse("GET", &tg)
	}
}

func FuzzRequestTarget(f *testing.F) {
	for _, s := range []string{"", "/a/%2e%2e", "//", "http://h/x", "/a?b=%", "/%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var tg Target
		if tg.Parse([]byte(s), []byte("h")) != nil {
			return
		}
		for _, seg := range tg.Segments[:tg.count] {
			if seg == "" || seg == "." || seg == ".." {
				t.Errorf("%q has the segment %q", s, seg)
			}
			for i := range len(seg) {
				if c := seg[i]; c == '/' || c < ' ' {
					t.Errorf("%q has a segment with %q", s, c)
				}
			}
		}
	})
}
