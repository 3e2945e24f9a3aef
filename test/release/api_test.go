package main

import (
	"cmp"
	"compress/gzip"
	"errors"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"

	"github.com/troupe-api/troupe/internal/must"
)

// TestAPI compares the public Go packages with the export data of the last release in testdata/api.
// Incompatible changes must be listed in testdata/api/changes.txt and described in CHANGELOG.md.
//
// With TROUPE_RECORD_API=../.. the test writes the export data of that tree instead. Do this after
// each release, and empty changes.txt.
func TestAPI(t *testing.T) {
	t.Parallel()
	const folder = "testdata/api"
	record := os.Getenv("TROUPE_RECORD_API")
	config := &packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile, Dir: cmp.Or(record, "../..")}
	loaded := must.Get(packages.Load(config, "./cmd/troupe/daemon", "./cmd/troupe/troupetest"))(t)
	var got []string
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors)
		}
		path := filepath.Join(folder, p.Name+".export.gz")
		if record != "" {
			must.Succeed(t, create(path, func(w io.Writer) error {
				z := gzip.NewWriter(w)
				return errors.Join(gcexportdata.Write(z, config.Fset, p.Types), z.Close())
			}))
			continue
		}
		f := must.Get(os.Open(path))(t)
		last := must.Get(gcexportdata.Read(must.Get(gzip.NewReader(f))(t), token.NewFileSet(), map[string]*types.Package{}, p.PkgPath))(t)
		f.Close()
		for _, c := range apidiff.Changes(last, p.Types).Changes {
			if !c.Compatible {
				got = append(got, p.Name+": "+c.Message)
			}
		}
	}
	slices.Sort(got)
	want := strings.FieldsFunc(string(must.Get(os.ReadFile(filepath.Join(folder, "changes.txt")))(t)), func(r rune) bool { return r == '\n' })
	if !slices.Equal(got, want) {
		t.Errorf("the incompatible changes since the last release are\n%s\nbut %s/changes.txt lists\n%s", strings.Join(got, "\n"), folder, strings.Join(want, "\n"))
	}
}
