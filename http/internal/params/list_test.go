package params_test

import (
	"testing"

	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// TestListRequest checks which version a list returns for each combination of resourceVersion and
// limit.
func TestListRequest(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	pods := kinds.Kind("", "v1", "pods")
	for _, test := range []struct {
		query requestinfo.Query
		match request.ResourceVersionMatch
		code  int // status code of the error
	}{
		{"", request.MatchMostRecent, 0},
		{"resourceVersion=0", request.MatchAny, 0},
		{"resourceVersion=7", request.MatchNotOlderThan, 0},
		{"resourceVersion=7&limit=5", request.MatchExact, 0},
		{"resourceVersion=7&resourceVersionMatch=Exact", request.MatchExact, 0},
		{"resourceVersion=7&limit=5&resourceVersionMatch=NotOlderThan", request.MatchNotOlderThan, 0},
		{"resourceVersion=x", 0, 400},
		{"resourceVersion=7&continue=t", 0, 400},
		{"resourceVersionMatch=Exact", 0, 422},
		{"resourceVersion=0&resourceVersionMatch=Exact", 0, 422},
		{"sendInitialEvents=true", 0, 422},
		{"fieldSelector=spec.nowhere%3Da", 0, 400},
	} {
		o, err := params.ParseList(params.ListRules{MetaGroup: "meta"}, pods, test.query, false)
		var l request.List
		if err == nil {
			l, err = o.Request(pods, &requestinfo.Info{Namespace: "n"})
		}
		switch {
		case err != nil && meta.AsStatus(err).Code != test.code, err == nil && test.code != 0:
			t.Errorf("%s: %v", test.query, err)
		case err == nil && (l.Match != test.match || l.Namespace != "n"):
			t.Errorf("%s: %+v", test.query, l)
		}
	}
}

func TestSelectName(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	pods := kinds.Kind("", "v1", "pods")
	for query, ok := range map[requestinfo.Query]bool{
		"watch=1": true, "fieldSelector=metadata.name%3Da": true, "fieldSelector=metadata.name%3Db": false, "fieldSelector=spec.nodeName%3Da": false,
	} {
		o := must.Get(params.ParseList(params.ListRules{MetaGroup: "meta"}, pods, query, true))(t)
		fields, err := o.SelectName(pods, "a")
		if name, _ := fields.Name(); (err == nil) != ok || ok && name != "a" {
			t.Errorf("%s: %q, %v", query, name, err)
		}
	}
}

func TestParseWrite(t *testing.T) {
	o, err := params.ParseWrite("meta", params.ApplyOptions, "fieldManager=m&force=true&dryRun=All&fieldValidation=Strict", []byte("kubectl/v1"))
	named := request.NamedOptions{FieldManager: "m", FieldValidation: "Strict"}
	if err != nil || o != (params.Write{DryRun: true, Validation: request.Strict, FieldManager: "m", Force: true, Named: named}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := params.ParseWrite("meta", "CreateOptions", "", []byte("kubectl/v1 (linux)")); err != nil || o.FieldManager != "kubectl" {
		t.Errorf("%+v, %v", o, err)
	}
	_, err = params.ParseWrite("meta", "PatchOptions", "force=true&dryRun=Some&fieldValidation=x&fieldManager=%01", nil)
	if f := meta.AsStatus(err); f.Code != 422 || len(f.Details.Causes) != 4 {
		t.Errorf("%+v", f)
	}
	if _, err := params.ParseWrite("meta", params.ApplyOptions, "", nil); meta.AsStatus(err).Code != 422 {
		t.Error("an apply without a field manager")
	}
}
