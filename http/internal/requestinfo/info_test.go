package requestinfo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/cases"
	"github.com/troupe-api/troupe/internal/must"
)

func fieldsText(i Info) string {
	fields := slices.DeleteFunc(strings.Fields(strings.Trim(fmt.Sprintf("%+v", i), "{}")), func(field string) bool {
		_, value, _ := strings.Cut(field, ":")
		return value == "" || value == "false" || value == "0"
	})
	slices.Sort(fields)
	return strings.Join(fields, " ")
}

func TestRequestInfo(t *testing.T) {
	for _, line := range cases.Read(t, "testdata/requests.txt")[0].Lines {
		request, want, _ := strings.Cut(line, " => ")
		method, target, _ := strings.Cut(request, " ")
		var tg Target
		must.Succeed(t, tg.Parse([]byte(target), nil))
		var got Info
		got.Parse(method, &tg)
		if path, _, _ := strings.Cut(target, "?"); got.Method != method || got.Path != path {
			t.Errorf("%s: method %s, path %s", request, got.Method, got.Path)
		}
		got.Method, got.Path, got.segments = "", "", 0
		if text := fieldsText(got); text != want {
			t.Errorf("%s\ngot  %s\nwant %s", request, text, want)
		}
	}
}

// TestBehind checks that Behind returns the path after a subresource, regardless of escapes and
// length.
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
