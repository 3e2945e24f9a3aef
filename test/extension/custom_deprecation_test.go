package extension

import (
	"strings"
	"testing"
)

// TestDeprecationWarning: a deprecated version that brings no warning of its own names the best of
// the better versions that are served and stay.
func TestDeprecationWarning(t *testing.T) {
	t.Parallel()
	const open = `,"schema":{"openAPIV3Schema":{"type":"object"}}}`
	version := func(name, flags string) string { return `{"name":"` + name + `",` + flags + open }
	const served, deprecated = `"served":true,"storage":false`, `"served":true,"storage":false,"deprecated":true`
	for _, c := range []struct{ versions, want string }{
		{version("v1", `"served":true,"storage":true`) + "," + version("v1beta1", deprecated), "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget"},
		{version("v1", served) + "," + version("v2", `"served":true,"storage":true`) + "," + version("v1beta1", deprecated), "example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget"},
		{version("v1alpha1", `"served":true,"storage":true`) + "," + version("v1beta1", deprecated), "example.com/v1beta1 Widget is deprecated"},
		{version("v1", `"served":false,"storage":true`) + "," + version("v1beta1", deprecated), "example.com/v1beta1 Widget is deprecated"},
		{version("v1", deprecated) + "," + version("v1beta1", strings.Replace(deprecated, `"storage":false`, `"storage":true`, 1)), "example.com/v1beta1 Widget is deprecated"},
		{version("v1", `"served":true,"storage":true`) + "," + version("v1beta1", deprecated+`,"deprecationWarning":"old"`), "old"},
	} {
		s := serveCustom(t, nil)
		s.define(customDefinition{versions: c.versions})
		got := s.Send(200, "GET", strings.Replace(widgets, "/v1/", "/v1beta1/", 1), "", "").Header.Get("Warning")
		if got != `299 - "`+c.want+`"` {
			t.Errorf("%s: warning %q, want %q", c.versions, got, c.want)
		}
	}
}
