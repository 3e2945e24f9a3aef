package extension

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/troupe-api/troupe/test/client"
)

// TestProxyVerb checks that requests with every method reach Services, Pods and Nodes, and that
// links in proxied pages point back to the proxy.
func TestProxyVerb(t *testing.T) {
	t.Parallel()
	host := client.OwnAddress(t) // loopback addresses are not proxied
	c := newCluster(t, host)
	port := c.serveMember(t, host)
	c.addService(t, "web", host, "one", port)
	c.addService(t, "forged", "169.254.169.254", "one", port)
	c.addOtherFamily(t)
	const base = "/api/v1/namespaces/default/"
	for _, member := range []string{"pods/one:" + port, "pods/http:one:" + port, "services/web:http", "services/web:80", "services/http:web:http", "nodes/here:" + port} {
		prefix := base + member + "/proxy"
		if strings.HasPrefix(member, "nodes") {
			prefix = "/api/v1/" + member + "/proxy"
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			b, err := c.clients.CoreV1().RESTClient().Verb(method).AbsPath(prefix+"/a/b/c/d/e/f/g/h/").Param("q", "1").Body([]byte("body")).DoRaw(t.Context())
			if want := method + " /a/b/c/d/e/f/g/h/?q=1 body uri=" + prefix + "/a/b/c/d/e/f/g/h/"; string(b) != want || err != nil {
				t.Errorf("%s %s: %q %v", method, member, b, err)
			}
		}
		if got, err := c.get(t, prefix+"/page"); got != `<a href="`+prefix+`/x">x</a><img src="http://other/y"/>` || err != nil {
			t.Errorf("%s: %q %v", member, got, err)
		}
		a, err := c.server.Client.Get(t.Context(), prefix+"/redirect")
		must(t, err)
		if got := a.Header.Get("Location"); a.Code != 302 || got != prefix+"/elsewhere" {
			t.Errorf("%s: %d %q", member, a.Code, got)
		}
	}
	if got, err := c.get(t, "/api/v1/nodes/here/proxy/metrics"); got != "GET /metrics apiserver\n" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	selects := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "selects"}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "none"}, Ports: []corev1.ServicePort{{Port: 80}},
	}}
	_, err := c.clients.CoreV1().Services("default").Create(t.Context(), selects, metav1.CreateOptions{})
	must(t, err)
	for path, want := range map[string]string{
		base + "services/forged:80/proxy/": `no endpoints available for service "forged"`,
		base + "services/selects/proxy/":   `no endpoints available for service "selects"`,
		base + "services/none/proxy/":      `no endpoints available for service "none"`,
		base + "services/a_b/proxy/":       `no endpoints available for service "a_b"`,
		base + "services/web,x/proxy/":     `no endpoints available for service "web,x"`,
		base + "services/web:81/proxy/":    `no service port 81 found for service "web"`,
		base + "services/web:x/proxy/":     `no endpoints available for service "web"`,
		base + "pods/one:1/proxy/":         "error trying to reach service: dial tcp " + host + ":1: connect: connection refused",
	} {
		if got := c.fault(t, path); got != "503 ServiceUnavailable "+want {
			t.Errorf("%s: %s", path, got)
		}
	}
	c.echo(t, base+"pods/one:"+port+"/proxy/echo?x=1")
	c.echo(t, base+"services/web:80/proxy/echo?x=1")
	a, err := c.server.Client.Get(t.Context(), base+"pods/one:"+port+"/proxy?a=b")
	must(t, err)
	if a.Code != 301 || a.Header.Get("Location") != base+"pods/one:"+port+"/proxy/?a=b" {
		t.Errorf("%d %s", a.Code, a.Header.Get("Location"))
	}
}

// echo checks that a WebSocket connection to a backend works through the proxy.
func (c *cluster) echo(t *testing.T, path string) {
	t.Helper()
	d := websocket.Dialer{TLSClientConfig: c.server.TLS, Subprotocols: []string{"echo"}}
	ws, _, err := d.DialContext(t.Context(), "wss"+strings.TrimPrefix(c.config.Host, "https")+path, nil)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	defer ws.Close()
	for _, text := range []string{"hello", strings.Repeat("x", 1<<20)} {
		must(t, ws.WriteMessage(websocket.TextMessage, []byte(text)))
		if _, got, err := ws.ReadMessage(); string(got) != "x=1 "+text || err != nil || ws.Subprotocol() != "echo" {
			t.Errorf("%s: %d bytes of %q, %v", path, len(got), ws.Subprotocol(), err)
		}
	}
}

// serveMember starts the server behind a Pod and returns its port.
func (c *cluster) serveMember(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	must(t, err)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, `<a href="/x">x</a><img src="http://other/y"/>`)
		case "/echo":
			u := websocket.Upgrader{Subprotocols: []string{"echo"}}
			ws, err := u.Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer ws.Close()
			for {
				kind, text, err := ws.ReadMessage()
				if err != nil {
					return
				}
				_ = ws.WriteMessage(kind, append([]byte(r.URL.RawQuery+" "), text...)) // the client may be gone
			}
		case "/redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		default:
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s uri=%s", r.Method, r.URL, body, r.Header.Get("X-Forwarded-Uri"))
			if r.Header.Get("Authorization") != "" {
				fmt.Fprint(w, " with a credential")
			}
		}
	}))
	must(t, s.Listener.Close())
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// addService creates a Service with an endpoint that has the address ip and refers to a Pod. Its
// other endpoints are unready or have a forged address.
func (c *cluster) addService(t *testing.T, name, ip, pod, port string) {
	t.Helper()
	n, err := strconv.Atoi(port)
	must(t, err)
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}}
	_, err = c.clients.CoreV1().Services("default").Create(t.Context(), s, metav1.CreateOptions{})
	must(t, err)
	of := &corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: pod}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{
			{Addresses: []string{"192.0.2.98"}, TargetRef: of}, // forged
			{Addresses: []string{ip}, TargetRef: of},
			{Addresses: []string{"192.0.2.97"}, Conditions: discoveryv1.EndpointConditions{Ready: new(false)}},
		},
		Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(n))}},
	}
	if strings.HasPrefix(ip, "169.254") { // not allowed in an EndpointSlice
		slice.Endpoints = slice.Endpoints[:1]
	}
	_, err = c.clients.DiscoveryV1().EndpointSlices("default").Create(t.Context(), slice, metav1.CreateOptions{})
	must(t, err)
}

// addOtherFamily adds an endpoint of the secondary IP family to the Service web.
func (c *cluster) addOtherFamily(t *testing.T) {
	t.Helper()
	pod, err := c.clients.CoreV1().Pods("default").Get(t.Context(), "one", metav1.GetOptions{})
	must(t, err)
	pod.Status.PodIPs = append(pod.Status.PodIPs, corev1.PodIP{IP: "fd00::1"})
	_, err = c.clients.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	must(t, err)
	slice, err := c.clients.DiscoveryV1().EndpointSlices("default").Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)
	slice.Name, slice.ResourceVersion, slice.UID, slice.AddressType, slice.Endpoints = "web6", "", "", discoveryv1.AddressTypeIPv6, slice.Endpoints[1:2]
	slice.Endpoints[0].Addresses = []string{"fd00::1"}
	_, err = c.clients.DiscoveryV1().EndpointSlices("default").Create(t.Context(), slice, metav1.CreateOptions{})
	must(t, err)
}
