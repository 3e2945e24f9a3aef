package params_test

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/requestbody"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
)

// FuzzDeleteOptions checks that any body is either decoded and validated as DeleteOptions, or
// rejected with 400 or 415.
func FuzzDeleteOptions(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `{"propagationPolicy":"Orphan","preconditions":{"uid":"u"},"dryRun":["All"]}`, "propagationPolicy: x\norphanDependents: true\n", "gracePeriodSeconds: 9999999999999999999\n",
		"k8s\x00\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12\x08\x22\x06Orphan", "k8s\x00\x12\x02\x08\x01", `{"kind":"Pod"}`, `{"preconditions":null,"dryRun":null}`,
	} {
		for _, contentType := range []string{negotiate.TypeJSON, negotiate.TypeYAML, "application/vnd.platform.protobuf", "text/plain"} {
			f.Add(contentType, []byte(body))
		}
	}
	kinds := must.Get(catalog.New(meta.Platform))(f)
	names := negotiate.NewNames(meta.Platform)
	names.AddCBOR()
	m, decoder := kinds.Message("meta.v1.DeleteOptions"), requestbody.Decoder{Names: &names}
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		refused := func(err error, codes ...int) bool {
			if err != nil && !slices.Contains(codes, meta.AsStatus(err).Code) {
				t.Fatal(err)
			}
			return err != nil
		}
		object, faults, err := decoder.Options(m, names.EncodingOfContentType(contentType), body)
		if refused(err, 400, 415) {
			return
		}
		d, err := params.DecodeDelete(object, faults)
		if refused(err, 400) {
			return
		}
		_, asked, err := d.Check(names.MetaGroup, "", nil)
		if refused(err, 422) {
			return
		}
		switch asked.PropagationPolicy {
		case "", "Orphan", "Foreground", "Background":
		default:
			t.Fatalf("policy %q", asked.PropagationPolicy)
		}
	})
}
