package certs_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/policy/certs"
)

func TestReloaderLogsFailureOnce(t *testing.T) {
	var log bytes.Buffer
	k := certs.NewReloader(slog.New(slog.NewTextHandler(&log, nil)))
	cert, key := writePair(t, "a.example")
	p, err := certs.LoadFilePair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	k.Add("serving", p.Refresh)
	k.Reload()
	newCert, newKey := writePair(t, "b.example")
	copyFile(t, cert, newCert)
	k.Reload()
	k.Reload()
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("one fault is logged %d times:\n%s", n, log.String())
	}
	copyFile(t, key, newKey)
	k.Reload()
	copyFile(t, cert, key)
	k.Reload()
	if n := strings.Count(log.String(), "level=ERROR"); n != 2 {
		t.Errorf("two faults are logged %d times:\n%s", n, log.String())
	}
	var metrics bytes.Buffer
	k.WriteMetrics(&metrics)
	for _, want := range []string{`{what="serving",status="success"} 1`, `{what="serving",status="failure"} 3`} {
		if !strings.Contains(metrics.String(), want) {
			t.Errorf("no %s in\n%s", want, metrics.String())
		}
	}
	if strings.Contains(log.String(), "PRIVATE") {
		t.Error("a key is logged")
	}
}
