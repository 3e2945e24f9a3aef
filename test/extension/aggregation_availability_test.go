package extension

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestReasons creates the prerequisites of an APIService one by one, and checks the reason of the
// Available condition after each.
func TestReasons(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	s := aggregationSession{client.Open(t, nil)}
	s.Send(201, "POST", apiServices, client.JSON, apiService("ext.example.com", "v1", `,"insecureSkipTLSVerify":true`))
	const name = "v1.ext.example.com"
	s.wantCondition(name, "False", "ServiceNotFound", `service/ext in "default" is not present`)
	const services, slices = "/api/v1/namespaces/default/services", "/apis/discovery.platform.io/v1/namespaces/default/endpointslices"
	s.Send(201, "POST", services, client.JSON, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"ext"},"spec":{"ports":[{"port":80}]}}`)
	s.wantCondition(name, "False", "ServicePortError", `service/ext in "default" is not listening on port 443`)
	s.Send(200, "PATCH", services+"/ext", client.MergePatch, `{"spec":{"ports":[{"name":"https","port":443}]}}`)
	s.wantCondition(name, "False", "EndpointsNotFound", `cannot find endpointslices for service/ext in "default"`)
	s.Send(201, "POST", slices, client.JSON, `{"apiVersion":"discovery.platform.io/v1","kind":"EndpointSlice","addressType":"IPv4","metadata":{"name":"ext","labels":{"platform.io/service-name":"ext"}},
		"endpoints":[{"addresses":["192.0.2.1"],"conditions":{"ready":false}}],"ports":[{"name":"https","port":443}]}`)
	s.wantCondition(name, "False", "MissingEndpoints", `endpointslices for service/ext in "default" have no addresses with port name "https"`)
	a := s.Send(503, "GET", "/apis/ext.example.com/v1/namespaces/n/things", "", "")
	if string(a.Body) != "service unavailable\n" || a.Header.Get("Content-Type") != "text/plain; charset=utf-8" || a.Header.Get("Retry-After") != "" {
		t.Errorf("the answer is %s %v", a, a.Header)
	}
	_, port, err := net.SplitHostPort(b.address())
	if err != nil {
		t.Fatal(err)
	}
	s.Send(200, "DELETE", services+"/ext", "", "")
	s.wantCondition(name, "False", "ServiceNotFound", "")
	s.Send(201, "POST", services, client.JSON, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"ext"},"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	s.wantCondition(name, "False", "FailedDiscoveryCheck", "failing or missing response from https://localhost:443/apis/ext.example.com/v1: ")
	s.Send(200, "PATCH", apiServices+"/"+name, client.MergePatch, `{"spec":{"service":{"port":`+port+`}}}`)
	s.wantCondition(name, "True", "Passed", "all checks passed")
	s.Send(200, "GET", "/apis/ext.example.com/v1/namespaces/n/things", "", "")
}

// TestUnavailable checks that a failing server is detected and counted in metrics, and can become
// available again.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	failing := make(chan bool, 1)
	failing <- false
	fails := func() bool { f := <-failing; failing <- f; return f }
	b := startBackend(t, func(w http.ResponseWriter, r *http.Request) bool {
		if fails() {
			http.Error(w, "out of order", http.StatusInternalServerError)
		}
		return fails()
	})
	s := openAggregation(t, b.address(), nil)
	s.register(b, "ext.example.com", "v1")
	const name = "v1.ext.example.com"
	wantMetrics := func(lines ...string) {
		t.Helper()
		client.Eventually(t, func() error {
			metrics := string(s.Send(200, "GET", "/metrics", "", "").Body)
			for _, line := range lines {
				if !strings.Contains(metrics, "\n"+line+"\n") {
					return fmt.Errorf("no metric %s", line)
				}
			}
			return nil
		})
	}
	wantMetrics(`aggregator_unavailable_apiservice{name="`+name+`"} 0`, `aggregator_unavailable_apiservice{name="v1.apps"} 0`)
	<-failing
	failing <- true
	s.Send(200, "PATCH", apiServices+"/"+name, client.MergePatch, `{"spec":{"versionPriority":11}}`)
	s.wantCondition(name, "False", "FailedDiscoveryCheck", "failing or missing response from https://"+b.address()+"/apis/ext.example.com/v1: bad status from https://"+b.address()+"/apis/ext.example.com/v1: 500")
	wantMetrics(`aggregator_unavailable_apiservice{name="`+name+`"} 1`, `aggregator_unavailable_apiservice_total{name="`+name+`",reason="FailedDiscoveryCheck"} 1`)
	<-failing
	failing <- false
	s.wantCondition(name, "True", "Passed", "")
	s.Send(200, "DELETE", apiServices+"/"+name, "", "")
	client.Eventually(t, func() error {
		if metrics := string(s.Send(200, "GET", "/metrics", "", "").Body); strings.Contains(metrics, name) {
			return fmt.Errorf("metrics of an APIService that is gone")
		}
		return nil
	})
	s.Send(404, "GET", "/apis/ext.example.com/v1/namespaces/n/things", "", "")
}

// TestAggregationTrust checks that a server whose certificate has the wrong CA or name is
// unavailable and gets no requests.
func TestAggregationTrust(t *testing.T) {
	t.Parallel()
	b := startBackend(t, nil)
	s := openAggregation(t, b.address(), nil)
	other := startBackend(t, nil)
	for version, more := range map[string]string{"v1": `,"caBundle":"` + other.ca() + `"`, "v2": ""} {
		s.Send(201, "POST", apiServices, client.JSON, apiService("ext.example.com", version, more))
		url := "https://" + b.address() + "/apis/ext.example.com/" + version
		s.wantCondition(version+".ext.example.com", "False", "FailedDiscoveryCheck",
			fmt.Sprintf("failing or missing response from %s: Get %[1]q: tls: failed to verify certificate: x509: ", url))
		s.Send(503, "GET", "/apis/ext.example.com/"+version+"/namespaces/n/things", "", "")
	}
	if r := b.last("/"); r != nil {
		t.Errorf("it got the request %s", r.URL)
	}
	s.Send(201, "POST", apiServices, client.JSON, apiService("ext.example.com", "v3", `,"insecureSkipTLSVerify":true`))
	s.wantCondition("v3.ext.example.com", "True", "Passed", "")
	s.Send(200, "GET", "/apis/ext.example.com/v3/namespaces/n/things", "", "")
}

// listenSilently accepts connections and never responds. ended counts the connections that clients
// have closed.
func listenSilently(t *testing.T) (address string, ended *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ended = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
				ended.Add(1)
			}()
		}
	}()
	return l.Addr().String(), ended
}

// TestSilentServers checks that unresponsive servers become unavailable without affecting other
// requests. Requests must not wait for probes of these servers. To show this, each request must
// succeed at least once in a period in which no probe ends.
func TestSilentServers(t *testing.T) {
	t.Parallel()
	silent, ended := listenSilently(t)
	s := openAggregation(t, silent, nil)
	for n := range 20 {
		s.Send(201, "POST", apiServices, client.JSON, apiService(fmt.Sprintf("e%d.example.com", n), "v1", `,"insecureSkipTLSVerify":true`))
	}
	for _, of := range []struct{ path, accept string }{
		{"/apis", "application/json"},
		{"/apis", "application/json;g=apidiscovery.platform.io;v=v2;as=APIGroupDiscoveryList"},
		{"/apis/e1.example.com", "application/json"},
		{"/openapi/v3", "application/json"},
		{"/api/v1/namespaces/default/configmaps", "application/json"},
	} {
		client.Eventually(t, func() error {
			before := ended.Load()
			if a, err := s.GetAs(s.Ctx, of.path, of.accept); err != nil || a.Code != 200 {
				return fmt.Errorf("%s: %v, %v", of.path, a.Code, err)
			}
			if n := ended.Load() - before; n > 0 {
				return fmt.Errorf("%s: meanwhile %d questions to silent servers have ended", of.path, n)
			}
			return nil
		})
	}
	s.wantCondition("v1.e1.example.com", "False", "FailedDiscoveryCheck", "failing or missing response from https://"+silent)
}
