package extension

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// managers returns the sorted field managers of an object, each with its API version. owned is the
// field set of the manager with the given name.
func managers(o client.Object, name string) (all []string, owned string) {
	list, _ := o.Metadata()["managedFields"].([]any)
	// Entries are ordered by their times, which have a resolution of one second.
	defer func() { slices.Sort(all) }()
	for _, v := range list {
		entry := v.(conversionObject)
		all = append(all, fmt.Sprint(entry["manager"], " ", entry["operation"], " ", entry["apiVersion"]))
		if entry["manager"] == name {
			owned = fmt.Sprint(entry["fieldsV1"])
		}
	}
	return all, owned
}

// TestOwnershipAcrossVersions checks that managed fields record the API version of each write.
// Through another version, an update takes over fields, and an apply conflicts unless forced.
func TestOwnershipAcrossVersions(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "PATCH", routesV2+"/a?fieldManager=two", conversionTypeApply, v2("a", "host:80"))
	o := s.Send(200, "PATCH", routesV1+"/a?fieldManager=one", conversionTypeApply, `{"apiVersion":"example.com/v1","kind":"Route","metadata":{"name":"a"},"spec":{"replicas":3}}`).Object()
	all, owned := managers(o, "two")
	if fmt.Sprint(all) != "[one Apply example.com/v1 two Apply example.com/v2]" || !strings.Contains(owned, "f:hostPort") {
		t.Errorf("%v, two owns %s", all, owned)
	}
	for _, body := range []string{v1Conversion("a", "other", "80"), v2("a", "other:80")} {
		path := routesV1
		if strings.Contains(body, "v2") {
			path = routesV2
		}
		a := s.Send(409, "PATCH", path+"/a?fieldManager=one", conversionTypeApply, body)
		if !strings.Contains(message(a), `conflict with "two"`) {
			t.Error(a)
		}
	}
	h.take()
	s.Send(200, "PATCH", routesV1+"/a?fieldManager=labels", typeMerge, `{"metadata":{"labels":{"a":"b"}}}`)
	if n := len(h.take()); n > 0 {
		t.Errorf("%d questions for a change of metadata", n)
	}
	o = s.Send(200, "PATCH", routesV1+"/a?fieldManager=one&force=true", conversionTypeApply, v1Conversion("a", "other", "80")).Object()
	if all, owned := managers(o, "two"); owned != "" {
		t.Errorf("%v, two still owns %s", all, owned)
	}
	// An update through the storage version takes over a field that was applied through another
	// version.
	s.Send(200, "PATCH", routesV2+"/a?fieldManager=two&force=true", conversionTypeApply, v2("a", "host:80"))
	o = s.Send(200, "PATCH", routesV1+"/a?fieldManager=three", typeMerge, `{"spec":{"host":"third"}}`).Object()
	if all, owned := managers(o, "two"); strings.Contains(owned, "f:hostPort") {
		t.Errorf("%v, two still owns %s", all, owned)
	}
	s.wantSpec(routesV2+"/a", `{"hostPort":"third:80","proto":"tcp"}`)
}

// TestOwnershipWithoutTheWebhook checks writes while a failing webhook prevents the conversion of
// managed fields. A metadata patch keeps the managed fields, a spec patch drops all of them, and an
// apply fails.
func TestOwnershipWithoutTheWebhook(t *testing.T) {
	t.Parallel()
	s, h := routed(t)
	s.Send(201, "PATCH", routesV2+"/a?fieldManager=two", conversionTypeApply, v2("a", "host:80"))
	h.set(func(review, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	o := s.Send(200, "PATCH", routesV1+"/a", typeMerge, `{"metadata":{"labels":{"a":"b"}}}`).Object()
	if all, _ := managers(o, ""); len(all) != 2 {
		t.Errorf("after a change of metadata: %v", all)
	}
	a := s.Send(500, "PATCH", routesV1+"/a?fieldManager=one", conversionTypeApply, v1Conversion("a", "new", "80"))
	if !strings.HasPrefix(message(a), failed) {
		t.Error(a)
	}
	o = s.Send(200, "PATCH", routesV1+"/a", typeMerge, `{"spec":{"host":"new"}}`).Object()
	if all, _ := managers(o, ""); len(all) != 0 {
		t.Errorf("after a change of the spec: %v", all)
	}
}

// TestManagerOfALostVersion checks that managedFields entries for a removed version are dropped.
func TestManagerOfALostVersion(t *testing.T) {
	t.Parallel()
	s, h := serveConversion(t, nil), startConversion(t)
	s.define(routes{clientConfig: h.clientConfig(), versions: "v0 v1 v2"})
	s.Send(201, "PATCH", strings.Replace(routesV1, "v1", "v0", 1)+"/a?fieldManager=zero", conversionTypeApply, strings.Replace(v1Conversion("a", "host", "80"), "/v1", "/v0", 1))
	s.redefine(200, routes{clientConfig: h.clientConfig()})
	o := s.Send(200, "PATCH", routesV2+"/a?fieldManager=two", conversionTypeApply, v2("a", "new:80")).Object()
	if all, _ := managers(o, ""); fmt.Sprint(all) != "[two Apply example.com/v2]" {
		t.Errorf("%v", all)
	}
}

// TestConcurrentPatches checks that concurrent patches through a converted version all succeed.
func TestConcurrentPatches(t *testing.T) {
	t.Parallel()
	s, _ := routed(t)
	s.Send(201, "POST", routesV2, client.JSON, v2("a", "host:80"))
	const writers = 30
	answers := make(chan client.Answer, writers)
	for i := range writers {
		go func() {
			a, err := s.Do(s.Ctx, "PATCH", routesV2+"/a", typeMerge, fmt.Appendf(nil, `{"metadata":{"labels":{"l%d":"x"}}}`, i))
			if err != nil {
				a.Body = []byte(err.Error())
			}
			answers <- a
		}()
	}
	for range writers {
		if a := <-answers; a.Code != 200 {
			t.Error(a)
		}
	}
	labels := s.Send(200, "GET", routesV1+"/a", "", "").Object().Metadata()["labels"].(conversionObject)
	if len(labels) != writers {
		t.Errorf("%d of %d patches landed", len(labels), writers)
	}
}
