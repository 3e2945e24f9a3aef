package extension

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
)

type conversionObject = map[string]any

type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
	query      string
}

type request struct {
	UID               string             `json:"uid"`
	DesiredAPIVersion string             `json:"desiredAPIVersion"`
	Objects           []conversionObject `json:"objects"`
}

type response struct {
	UID              string             `json:"uid"`
	ConvertedObjects []conversionObject `json:"convertedObjects"`
	Result           conversionObject   `json:"result"`
}

type conversionHook struct{ *hook[review] }

// startConversion starts a conversion webhook for routes on 127.0.0.1. Its certificate is also
// valid for names.
func startConversion(t testing.TB, names ...string) *conversionHook {
	t.Helper()
	h := newHook(t, "127.0.0.1", func(q *http.Request, body []byte) review {
		r := review{query: q.URL.RawQuery}
		_ = json.Unmarshal(body, &r)
		return r
	}, convertRoutes, names)
	h.StartTLS()
	return &conversionHook{h}
}

func (h *conversionHook) clientConfig() string {
	return fmt.Sprintf(`{"url":%q,"caBundle":%q}`, h.URL+"/convert", h.bundle)
}

func convertRoutes(r review, w http.ResponseWriter, _ *http.Request) {
	writeConversion(w, converted(r))
}

func converted(r review) review {
	out := review{APIVersion: r.APIVersion, Kind: r.Kind, Response: &response{UID: r.Request.UID, Result: conversionObject{"status": "Success"}}}
	for _, o := range r.Request.Objects {
		out.Response.ConvertedObjects = append(out.Response.ConvertedObjects, convertRoute(o, r.Request.DesiredAPIVersion))
	}
	return out
}

func writeConversion(w http.ResponseWriter, r review) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(r)
}

// lie returns a handler that sends the valid response, modified by change.
func lie(change func(r *review)) func(review, http.ResponseWriter, *http.Request) {
	return func(r review, w http.ResponseWriter, _ *http.Request) {
		answer := converted(r)
		change(&answer)
		writeConversion(w, answer)
	}
}

func convertRoute(o conversionObject, apiVersion string) conversionObject {
	out := maps.Clone(o)
	out["apiVersion"] = apiVersion
	spec, _ := o["spec"].(conversionObject)
	if spec == nil {
		return out
	}
	spec = maps.Clone(spec)
	switch {
	case strings.HasSuffix(apiVersion, "/v2") && (spec["host"] != nil || spec["port"] != nil):
		spec["hostPort"] = fmt.Sprintf("%v:%v", spec["host"], spec["port"])
		delete(spec, "host")
		delete(spec, "port")
	case !strings.HasSuffix(apiVersion, "/v2") && spec["hostPort"] != nil:
		spec["host"], spec["port"], _ = strings.Cut(spec["hostPort"].(string), ":")
		delete(spec, "hostPort")
	}
	out["spec"] = spec
	return out
}
