package extension

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// benched starts a server and a conversion webhook that takes a millisecond per review. It also
// returns a function that sends requests to the server.
func benched(b *testing.B) (*client.Server, *conversionHook, func(method, path, contentType, body string)) {
	server, h := client.Serve(b, b.TempDir(), nil), startConversion(b)
	h.set(func(r review, w http.ResponseWriter, q *http.Request) {
		//lint:ignore walltime a benchmark measures time, and hooks are on a network
		<-time.After(time.Millisecond)
		convertRoutes(r, w, q)
	})
	send := func(method, path, contentType, body string) {
		b.Helper()
		if a, err := server.Do(b.Context(), method, path, contentType, []byte(body)); err != nil || a.Code > 299 {
			b.Fatal(a, err)
		}
	}
	send("POST", conversionDefinitions, client.JSON, routes{clientConfig: h.clientConfig()}.String())
	return server, h, send
}

// BenchmarkGet reads an object in a converted version, with and without changes between reads.
func BenchmarkGet(b *testing.B) {
	_, _, send := benched(b)
	send("POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			send("GET", routesV2+"/a", "", "")
		}
	})
	b.Run("changed", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			send("PATCH", routesV1+"/a", typeMerge, fmt.Sprintf(`{"spec":{"port":"%d"}}`, i))
			send("GET", routesV2+"/a", "", "")
		}
	})
}

func BenchmarkList(b *testing.B) {
	_, _, send := benched(b)
	for i := range 1000 {
		send("POST", routesV1, client.JSON, v1Conversion(fmt.Sprint("r", i), "host", "80"))
	}
	for b.Loop() {
		send("GET", routesV2, "", "")
	}
}

// BenchmarkUpdate updates an object through the storage version and through another version.
func BenchmarkUpdate(b *testing.B) {
	_, _, send := benched(b)
	send("POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
	for name, path := range map[string]string{"stored": routesV1, "converted": routesV2} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				send("PATCH", path+"/a", typeMerge, fmt.Sprintf(`{"spec":{"replicas":%d}}`, i))
			}
		})
	}
}

// BenchmarkWatch measures watch event delivery in a converted version, and reports the number of
// webhook calls.
func BenchmarkWatch(b *testing.B) {
	for _, watchers := range []int{1, 100} {
		b.Run(fmt.Sprint(watchers), func(b *testing.B) {
			server, h, send := benched(b)
			send("POST", routesV1, client.JSON, v1Conversion("a", "host", "80"))
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			var seen sync.WaitGroup
			for range watchers {
				w, err := server.Watch(ctx, routesV2, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := w.Next(); err != nil {
					b.Fatal(err)
				}
				go func() {
					for {
						if _, err := w.Next(); err != nil {
							return
						}
						seen.Done()
					}
				}()
			}
			h.take()
			n := 0
			for b.Loop() {
				seen.Add(watchers)
				send("PATCH", routesV1+"/a", typeMerge, fmt.Sprintf(`{"spec":{"replicas":%d}}`, n))
				seen.Wait()
				n++
			}
			b.ReportMetric(float64(len(h.take()))/float64(n), "questions/event")
		})
	}
}
