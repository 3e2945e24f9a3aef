package api

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

func TestRows(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, meta.Platform)
	s := client.Serve(t, t.TempDir(), unprotected)
	transport := client.Transport(t, s.TLS)
	files, err := filepath.Glob("testdata/catalog/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, path := range files {
		table, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		answers := make([][][]string, len(table.rows))
		for i, r := range table.rows {
			p := &catalogPlayer{s.Client, c, table, fmt.Sprintf("%s-%d", table.name, i+1)}
			t.Run(strings.ReplaceAll(table.kind+" "+r.text, "/", "|"), func(t *testing.T) {
				answers[i] = playRow(t, p, r)
				f := formatClient{t, c, s, transport, "application/vnd.platform.protobuf"}
				f.checkFormats(p)
			})
		}
		if *transcript.Update && !t.Failed() {
			client.WriteFile(t, path, table.write(answers))
		}
	}
}

// playRow sends a row's requests and returns the responses. It compares them with the expected
// responses unless the tables are being updated.
func playRow(t *testing.T, p *catalogPlayer, r catalogRow) (answers [][]string) {
	for _, q := range r.requests {
		got, err := p.play(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", q.line, err)
		}
		// Compare joined lines, because a message may span several lines.
		if got, want := strings.Join(got, "\n"), strings.Join(q.answer, "\n"); !*transcript.Update && got != want {
			t.Errorf("$ %s\ngot\n%s\nwant\n%s", q.line, got, want)
		}
		answers = append(answers, got)
	}
	return answers
}

// checkFormats checks that a row's final object survives a round trip in each format.
func (f formatClient) checkFormats(p *catalogPlayer) {
	k, err := p.kind(catalogRequest{})
	if err != nil {
		f.Fatal(err)
	}
	if k.Virtual() {
		return
	}
	a, err := p.Get(f.Context(), collection(k)+"/"+p.name)
	if err != nil {
		f.Fatal(err)
	}
	if a.Code == http.StatusOK {
		f.roundTrip(k, p.name)
	}
}

// unprotected disables the controllers and admission plugins that would interfere with rows. They
// delay the deletion of claims and volumes, and let claims grow only if their class allows
// expansion. The quotas and limit ranges of one row would apply to others.
func unprotected(c *daemon.Config) {
	c.Controllers = client.KeepingControllers + ",-serviceaccount-token-secret-controller"
	c.Admission.Disable = []string{"StorageObjectInUseProtection", "PersistentVolumeClaimResize", "ResourceQuota", "LimitRanger"}
}
