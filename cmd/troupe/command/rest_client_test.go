package command_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

func TestEndlessAnswer(t *testing.T) {
	const most = 1 << 20
	for _, length := range []int{most, most + 1, 1 << 40} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			piece := strings.Repeat(" ", 1<<16)
			for left := length; left > 0; {
				n, err := w.Write([]byte(piece[:min(left, len(piece))]))
				if err != nil {
					return
				}
				left -= n
			}
		}))
		server := must.Get(url.Parse(s.URL))(t)
		c := rest.New(&kubeconfig.Config{Server: server}, rest.Options{MaxAnswer: most})
		answer, err := c.Do(t.Context(), rest.Request{Method: http.MethodGet, Path: "/"})
		if length <= most && (err != nil || len(answer.Body) != length) {
			t.Errorf("%d bytes: %d, %v", length, len(answer.Body), err)
		}
		if length > most && (err == nil || !strings.Contains(err.Error(), "exceeds 1048576 bytes")) {
			t.Errorf("%d bytes: %d, %v", length, len(answer.Body), err)
		}
		s.CloseClientConnections()
		s.Close()
	}
}

func TestConnectionsAreKept(t *testing.T) {
	const atOnce = 20 // more than the default
	var opened atomic.Int32
	arrived, goOn := make(chan struct{}), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-goOn
		fmt.Fprint(w, "{}")
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	server := must.Get(url.Parse(s.URL))(t)
	c := rest.New(&kubeconfig.Config{Server: server}, rest.Options{MaxIdle: atOnce})
	defer c.Close()
	for range 3 {
		var asking sync.WaitGroup
		for range atOnce {
			asking.Go(func() {
				if _, err := c.Do(t.Context(), rest.Request{Method: http.MethodGet, Path: "/"}); err != nil {
					t.Error(err)
				}
			})
		}
		for range atOnce {
			<-arrived
		}
		for range atOnce { // wait until all requests are in flight
			goOn <- struct{}{}
		}
		asking.Wait()
	}
	if n := opened.Load(); n != atOnce {
		t.Errorf("%d connections were opened for %d requests at a time", n, atOnce)
	}
}
