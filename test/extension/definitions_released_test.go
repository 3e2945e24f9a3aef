package extension

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// makers maps descriptions of memory that each served CRD needs to the functions that allocate it.
// The CRD object itself is not included.
var makers = map[string]string{
	"kinds":              "kinds/crd.(*Compiler).version",
	"compiled schemas":   "kinds/crd.(*definedSchema).compile",
	"programs":           "kinds/cel.(*Checked).Program",
	"collections":        "actors.(*Store).newCollection",
	"watches":            "actors.(*Store).Watch",
	"documents":          "kinds/openapi.newDocument",
	"sets of kinds":      "kinds/catalog.(*Catalog).customKinds",
	"states":             "actors/controllers/crd.(*Controller).sync",
	"watched kinds":      "actors/controllers/garbagecollector.(*Controller).watchAllKinds",
	"series of requests": "http.(*requestMetrics).add",
}

// objects returns the number of heap objects that each function in makers allocated, according to
// the memory profile. count selects a number from a profile record. dead includes records without
// live objects. The garbage collector runs three times, because the profile lags by two
// collections.
func objects(count func(*runtime.MemProfileRecord) int64, dead bool) map[string]int64 {
	for range 3 {
		runtime.GC()
	}
	records := make([]runtime.MemProfileRecord, 1<<16)
	n, ok := runtime.MemProfile(records, dead)
	for ; !ok; n, ok = runtime.MemProfile(records, dead) {
		records = make([]runtime.MemProfileRecord, 2*n)
	}
	counts := map[string]int64{}
	for i := range records[:n] {
		by := allocator(records[i].Stack())
		for name, maker := range makers {
			if strings.HasSuffix(by, "/"+maker) {
				counts[name] += count(&records[i])
			}
		}
	}
	return counts
}

func live() map[string]int64 { return objects((*runtime.MemProfileRecord).InUseObjects, false) }

func made() map[string]int64 {
	return objects(func(r *runtime.MemProfileRecord) int64 { return r.AllocObjects }, true)
}

func allocator(stack []uintptr) string {
	frames := runtime.CallersFrames(stack)
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") || !more {
			return frame.Function
		}
	}
}

// rounds is the number of CRDs that TestReleased creates and deletes.
const rounds = 5

// TestReleased checks that deleting a CRD releases its memory. Each CRD is in a new group and
// receives all kinds of requests for its objects. With a leak, at least rounds objects of a
// function in makers would stay in memory. Fewer are not a leak, because a worker may still
// reference the last one.
func TestReleased(t *testing.T) {
	s := client.Open(t, nil)
	round := func(i int) {
		group := fmt.Sprintf("g%d.example.com", i)
		s.Send(201, "POST", definitionDefinitions2, client.JSON, definitionDefinitions(group))
		objects := "/apis/" + group + "/v1/namespaces/default/widgets"
		for _, version := range []string{"v1", "v1beta1"} {
			object := `{"apiVersion":"` + group + `/` + version + `","kind":"Widget","metadata":{"name":"` + version + `"},"spec":{"size":1}}`
			s.Send(201, "POST", strings.Replace(objects, "/v1/", "/"+version+"/", 1), client.JSON, object)
		}
		s.Send(422, "POST", objects, client.JSON, `{"apiVersion":"`+group+`/v1","kind":"Widget","metadata":{"name":"b"},"spec":{"size":11}}`)
		s.Send(201, "PATCH", objects+"/c?fieldManager=m", "application/apply-patch+yaml", `{"apiVersion":"`+group+`/v1","kind":"Widget","metadata":{"name":"c"},"spec":{"size":2}}`)
		// The garbage collector must delete the object, because its owner does not exist.
		s.Send(201, "POST", objects, client.JSON, `{"apiVersion":"`+group+`/v1","kind":"Widget","metadata":{"name":"dependent","ownerReferences":[`+
			`{"apiVersion":"v1","kind":"ConfigMap","name":"absent","uid":"00000000-0000-4000-8000-000000000000"}]}}`)
		client.Eventually(t, func() error {
			if answer, err := s.Get(s.Ctx, objects+"/dependent"); err != nil || answer.Code != 404 {
				return fmt.Errorf("it is still there: %v, %v", answer, err)
			}
			return nil
		})
		s.Send(200, "GET", objects+"?limit=1", "", "")
		watch, err := s.Watch(s.Ctx, objects, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Close()
		s.Send(200, "GET", "/openapi/v3/apis/"+group+"/v1", "", "")
		s.Send(200, "GET", "/openapi/v3", "", "")
		s.Send(200, "GET", "/apis", "", "")
		s.Send(200, "DELETE", definitionDefinitions2+"/widgets."+group, "", "")
		for err == nil { // the watch ends with the kind
			_, err = watch.Next()
		}
		s.Send(404, "GET", objects+"/v1", "", "")
		s.Send(404, "GET", "/openapi/v3/apis/"+group+"/v1", "", "")
		s.Send(200, "GET", "/openapi/v3", "", "")
		s.Send(200, "GET", "/metrics", "", "")
	}
	// askAll requests documents from every daemon, so that documents of deleted kinds are dropped.
	askAll := func() {
		for range client.Daemons(t) {
			s.Send(200, "GET", "/openapi/v3", "", "")
		}
	}
	round(0)
	askAll() // builds documents that are built only once, such as those of built-in kinds
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1 // from here on the profile must be complete, because objects are counted by allocator
	before := live()
	for i := range rounds {
		round(1 + i)
	}
	askAll()
	client.Eventually(t, func() error {
		now := live()
		for name := range makers {
			if more := now[name] - before[name]; more >= rounds*int64(client.Daemons(t)) {
				return fmt.Errorf("%d more objects of %s are alive", more, name)
			}
		}
		return nil
	})
	for name, n := range made() {
		if n < rounds {
			t.Errorf("only %d objects of %s were allocated: is makers outdated?", n, name)
		}
	}
}
