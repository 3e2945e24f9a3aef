package apiservices

import (
	"strings"
	"testing"
)

func TestMetricsOfGoneAPIService(t *testing.T) {
	m := NewMetrics()
	m.set("v1.a.example.com", true)
	m.set("v1.b.example.com", true)
	m.change("v1.b.example.com", false)
	m.forget("v1.a.example.com")
	m.change("v1.a.example.com", false)
	m.count("v1.a.example.com", "FailedDiscoveryCheck")
	var text strings.Builder
	m.WriteMetrics(&text)
	if got := text.String(); strings.Contains(got, "v1.a.") || !strings.Contains(got, `{name="v1.b.example.com"} 1`) {
		t.Error(got)
	}
}
