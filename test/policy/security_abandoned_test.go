package policy

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestAbandonedRequests checks that the server aborts a computation when its client disconnects or
// its timeout expires. A complete computation takes seconds and ends with status 422.
func TestAbandonedRequests(t *testing.T) {
	v := start(t)
	const costs = "/apis/example.com/v1/costs"
	alternatives := strings.TrimSuffix(strings.Repeat(`{"minimum":7},`, 400), ",")
	v.must(201, "POST", definitionPath, typeJSON, customDefinition(`{"type":"array","maxItems":100000,"items":{"type":"integer","anyOf":[`+alternatives+`]}}`))
	body := `{"apiVersion":"example.com/v1","kind":"Cost","metadata":{"name":"a"},"spec":[` + strings.TrimSuffix(strings.Repeat("1,", 100_000), ",") + `]}`
	v.must(504, "POST", costs+"?timeout=100ms", typeJSON, body)
	conn := v.dial(v.admin())
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", costs, len(body)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	code := 0
	client.Poll(func() bool {
		for _, e := range v.events(v.audit()) {
			if e.RequestURI == costs && e.ResponseStatus.Code != 0 {
				code = e.ResponseStatus.Code
			}
		}
		return code != 0
	})
	if code != 504 {
		t.Errorf("the request ended with %d, want 504", code)
	}
}
