package envtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLooseFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                                       "map[]",
		"--listen-client-urls=http://a --name x": "map[listen-client-urls:http://a name:x]",
		"-a --b -c=d=e":                          "map[a: b: c:d=e]",
		"-h":                                     "map[help:]",
		"--a= --b":                               "map[a: b:]",
		"gateway start":                          `"gateway" is no flag`,
		"-":                                      `"-" is no flag`,
	} {
		flags, err := looseFlags(strings.Fields(args))
		if got := fmt.Sprint(flags); got != want && (err == nil || err.Error() != want) {
			t.Errorf("%q: %s, %v", args, got, err)
		}
	}
}

func TestHealth(t *testing.T) {
	for path, want := range map[string]int{"/health": 200, "/v3/kv/put": 501, "/": 501, "/health/x": 501} {
		answer := httptest.NewRecorder()
		healthHandler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != want || want == 501 && !strings.Contains(answer.Body.String(), "troupe") {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
	if err := serveHealth("https://127.0.0.1:0", os.Stderr); err == nil || !strings.Contains(err.Error(), "--listen-client-urls") {
		t.Errorf("a URL that cannot be served: %v", err)
	}
}

func TestIsTemporary(t *testing.T) {
	temp := os.TempDir()
	for dir, want := range map[string]bool{
		filepath.Join(temp, "k8s_test_framework_12"):       true,
		filepath.Join(temp, "k8s_test_framework_12") + "/": true,
		filepath.Join(temp, "k8s_test_framework_12", "a"):  false,
		filepath.Join(temp, "mine"):                        false,
		temp:                                               false,
		"":                                                 false,
		"/k8s_test_framework_12":                           temp == "/",
		"k8s_test_framework_12":                            false,
	} {
		if isTemporary(dir) != want {
			t.Errorf("%q: %t", dir, !want)
		}
	}
}
