package http_test

import (
	"regexp"
	"testing"

	"github.com/troupe-api/troupe/http/internal/origin"
	"github.com/valyala/fasthttp"
)

// TestIsCross tests which browser headers mark a request as cross-origin. Requests without these
// headers are not from browsers.
func TestIsCross(t *testing.T) {
	allowed := origin.Allowed{regexp.MustCompile(`^https://good\.example$`)}
	for _, test := range []struct {
		origin, site string
		secure, want bool
	}{
		{"", "", true, false},
		{"", "same-origin", true, false},
		{"", "none", true, false},
		{"", "cross-site", true, true},
		{"https://good.example", "cross-site", true, false},
		{"https://bad.example", "", true, true},
		{"https://own.example", "", true, false},
		{"https://OWN.example:443", "", true, false},
		{"http://own.example", "", true, true},
		{"http://own.example:80", "", false, false},
		{"https://own.example:8443", "", true, true},
		{"null", "", true, true},
	} {
		var h fasthttp.RequestHeader
		h.SetHost("own.example")
		for name, value := range map[string]string{"Origin": test.origin, "Sec-Fetch-Site": test.site} {
			if value != "" {
				h.Set(name, value)
			}
		}
		if got := allowed.IsCross(&h, test.secure); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
