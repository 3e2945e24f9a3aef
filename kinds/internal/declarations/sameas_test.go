package declarations_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/internal/declarations"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

const versionOne = `syntax = "proto3"; package g.v1; import "options.proto";
message Thing {
  option (troupe.kind) = {group: "g", version: "v1", resource: "things", storage_version: true, short_names: ["th"]
    columns: [{name: "Name"}, {name: "Size", path: "spec.size"}]};
  Metadata metadata = 1;
  Spec spec = 2;
}
message Metadata { string name = 1; }
message Spec {
  option (troupe.message).one_of = {fields: ["size", "limits"]};
  int32 size = 1 [(troupe.field).min = 1];
  map<string, Limit> limits = 2;
  repeated Part parts = 3;
}
message Limit { string max = 1; string unit = 2; }
message Part { repeated Part parts = 1; }`

func compileVersions(t *testing.T, other string) (*schema.Plan, error) {
	t.Helper()
	sources := map[string]string{"v1.proto": versionOne, "v2.proto": `syntax = "proto3"; package g.v2; import "options.proto";` + other}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{Accessor: func(name string) (io.ReadCloser, error) {
		if text, ok := sources[name]; ok {
			return io.NopCloser(strings.NewReader(text)), nil
		}
		return os.Open(filepath.Join("..", "..", "api", name))
	}})}
	files := must.Get(compiler.Compile(context.Background(), "v1.proto", "v2.proto"))(t)
	var all []*descriptorpb.FileDescriptorProto
	for _, f := range files {
		all = append(all, protoutil.ProtoFromFileDescriptor(f))
	}
	encoded, err := declarations.Encode(all)
	if err != nil {
		return nil, err
	}
	return schema.Load(encoded, meta.Kubernetes)
}

func TestSameAs(t *testing.T) {
	t.Parallel()
	plan := must.Get(compileVersions(t, `
		message Thing {
		  option (troupe.kind) = {version: "v2", off_by_default: true, columns: [{name: "Age"}]};
		  option (troupe.message).same_as = "g.v1.Thing";
		}
		message Limit {
		  option (troupe.message).same_as = "g.v1.Limit";
		  reserved "unit";
		  int64 max = 1;
		  string more = 3;
		}`))(t)
	one, two := plan.Kinds[0], plan.Kinds[1]
	if two.APIVersion() != "g/v2" || two.Resource != "things" || two.Stored != one || !two.OffByDefault || two.Names.Short[0] != "th" {
		t.Errorf("the kind of version 2: %+v", two)
	}
	if len(one.Columns) != 2 || len(two.Columns) != 1 || two.Columns[0].Path != "func:age" {
		t.Errorf("columns %+v, %+v", one.Columns, two.Columns)
	}
	spec := two.Message().Field("spec").Message
	if spec.Name != "g.v2.Spec" || one.Message().Field("spec").Message.Name != "g.v1.Spec" || len(spec.OneOf) != 1 || *spec.Field("size").Min != 1 {
		t.Errorf("spec: %+v", spec)
	}
	if parts := spec.Field("parts").Message; parts.Name != "g.v2.Part" || parts.Field("parts").Message != parts {
		t.Errorf("a recursive message: %+v", parts)
	}
	var fields []string
	limits := spec.Field("limits")
	for _, f := range limits.Message.Fields {
		fields = append(fields, f.Name)
	}
	if limits.Shape != schema.Map || limits.Message.Name != "g.v2.Limit" || strings.Join(fields, " ") != "max more" || limits.Message.Field("max").Type != schema.TypeInt64 {
		t.Errorf("a map of changed messages: %+v with %v", limits, fields)
	}
}

func TestSameAsErrors(t *testing.T) {
	t.Parallel()
	_, err := compileVersions(t, `message Thing { option (troupe.message).same_as = "g.v1.Thin"; }`)
	if err == nil || err.Error() != "g.v2.Thing.same_as: no message is named g.v1.Thin" {
		t.Error(err)
	}
}
