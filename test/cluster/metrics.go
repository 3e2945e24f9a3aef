package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// metricsService is the Service behind the custom metrics API, as NAME.NAMESPACE.
const metricsService = "metrics.kube-system"

// A metricsServer is an aggregated API server for custom metrics. The metric "load" of every
// Service has the value load.
type metricsServer struct {
	*httptest.Server
	load atomic.Int64
}

func startMetrics(t testing.TB) *metricsServer {
	t.Helper()
	m := &metricsServer{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/custom.metrics.k8s.io/v1beta2", func(w http.ResponseWriter, _ *http.Request) {
		m.answer(w, http.StatusOK, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"custom.metrics.k8s.io/v1beta2","resources":[
			{"name":"services/load","singularName":"","namespaced":true,"kind":"MetricValueList","verbs":["get"]}]}`)
	})
	mux.HandleFunc("GET /apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace}/services/{name}/load", func(w http.ResponseWriter, r *http.Request) {
		m.answer(w, http.StatusOK, fmt.Sprintf(`{"kind":"MetricValueList","apiVersion":"custom.metrics.k8s.io/v1beta2","metadata":{},"items":[
			{"describedObject":{"kind":"Service","apiVersion":"v1","namespace":%q,"name":%q},"metric":{"name":"load"},"timestamp":%q,"value":"%d"}]}`,
			r.PathValue("namespace"), r.PathValue("name"), time.Now().UTC().Format(time.RFC3339), m.load.Load()))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		m.answer(w, http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no such metric","reason":"NotFound","code":404}`)
	})
	m.Server = httptest.NewTLSServer(mux)
	t.Cleanup(m.Close)
	return m
}

func (m *metricsServer) answer(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprint(w, body)
}

func (m *metricsServer) address() string { return m.Listener.Addr().String() }
