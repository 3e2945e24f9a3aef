package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/mutation"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// celObject is the object that all expressions refer to.
const celObject = `{"metadata":{"name":"web-1","labels":{"app":"web","a/b":"c"}},"spec":{"replicas":3,"weight":0.5,"zero":0,"big":9007199254740993,
	"on":true,"off":false,"none":null,"empty":"","text":"Hello, World","unicode":"ünïcödé","list":[3,1,2,2],"texts":["b","a","c","a"],
	"mixed":[1,"a",true,null],"nested":[[1,2],[3],[[4]]],"objects":[{"n":"x","v":2},{"n":"y","v":1}],"map":{"k":"v","l":"w"},
	"url":"https://user@example.com:8080/p/a%20th?x=1&x=2&y=#frag","ip":"10.1.2.3","ip6":"fe80::1","cidr":"10.0.0.0/8","quantity":"1.5Gi","version":"v1.2"}}`

// An outcome is the result of compiling and evaluating an expression.
type outcome struct {
	compile string // the compile error, without names of types
	value   string // the result
	fault   string // the evaluation error
	cost    uint64
}

func (o outcome) String() string {
	if o.compile != "" {
		return "does not compile: " + o.compile
	}
	return fmt.Sprintf("%s%s for %d", o.value, o.fault, o.cost)
}

// referenceEnv returns the CEL environment of Kubernetes 1.37 with a dynamic object, an authorizer
// and the patch types.
func referenceEnv(t testing.TB) *celgo.Env {
	t.Helper()
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, 37)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []celgo.EnvOption{
			celgo.Variable("object", celgo.DynType), celgo.Variable("authorizer", library.AuthorizerType),
			celgo.Variable("authorizer.requestResource", library.ResourceCheckType),
			common.ResolverEnvOption(&mutation.DynamicTypeResolver{}), library.JSONPatch(),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return set.NewExpressionsEnv()
}

func byReference(env *celgo.Env, text string, variables map[string]any) (o outcome) {
	ast, issues := env.Compile(text)
	if issues != nil {
		o.compile = issues.String()
		return o
	}
	program, err := env.Program(ast, celgo.InterruptCheckFrequency(100))
	if err != nil {
		o.compile = err.Error()
		return o
	}
	v, details, err := program.ContextEval(context.Background(), variables)
	if details != nil && details.ActualCost() != nil {
		o.cost = *details.ActualCost()
	}
	if err != nil {
		o.fault = "fails: " + err.Error()
		return o
	}
	o.value = printReference(v)
	return o
}

// printReference formats a result as JSON where possible.
func printReference(v ref.Val) string {
	if o, ok := v.Value().([]ref.Val); ok && len(o) > 0 {
		if p, ok := o[0].(*mutation.JSONPatchVal); ok {
			return fmt.Sprintf("[%s %s %s]", p.Op, p.Path, printReference(p.Val))
		}
	}
	if o, err := v.ConvertToNative(reflect.TypeFor[map[string]any]()); err == nil && strings.HasPrefix(v.Type().TypeName(), "Object") {
		b, _ := json.Marshal(o)
		return string(b)
	}
	if n, ok := v.(types.Int); ok {
		return fmt.Sprint(int64(n))
	}
	if d, ok := v.(types.Duration); ok {
		return `"` + string(d.ConvertToType(types.StringType).(types.String)) + `"`
	}
	native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return "a " + strings.ReplaceAll(v.Type().TypeName(), "kubernetes.", "platform.")
	}
	b, _ := protojson.Marshal(native.(*structpb.Value))
	var plain any
	if json.Unmarshal(b, &plain) != nil {
		return string(b)
	}
	b, _ = json.Marshal(plain)
	return string(b)
}

func byOurs(env *cel.Env, text string, variables cel.Variables) (o outcome) {
	program, err := env.Compile(text)
	if err != nil {
		o.compile = strings.TrimPrefix(strings.TrimPrefix(err.Error(), "compilation failed: "), "program instantiation failed: ")
		return o
	}
	b := cel.NewBudget(cel.RuntimeBudget)
	v, err := program.Eval(context.Background(), variables, b)
	o.cost = cel.RuntimeBudget - b.Remaining()
	if err != nil {
		o.fault = "fails: " + err.Error()
		return o
	}
	o.value = printOurs(v)
	return o
}

func printOurs(v cel.Value) string {
	if operations, err := cel.Operations(v); err == nil && len(operations) > 0 {
		value, _, _ := operations[0].Operand()
		return fmt.Sprintf("[%s %s %s]", operations[0].Op, operations[0].Path, codec.AppendAny(nil, value))
	}
	native, err := cel.Native(v)
	if err != nil {
		return "a " + v.Type().TypeName()
	}
	if n, ok := native.(int64); ok {
		return fmt.Sprint(n)
	}
	var plain any
	if json.Unmarshal(codec.AppendAny(nil, native), &plain) != nil {
		return string(codec.AppendAny(nil, native))
	}
	b, _ := json.Marshal(plain)
	return string(b)
}

func decode(t testing.TB, text string) (reference map[string]any, ours tree.Tree) {
	t.Helper()
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return plain(v).(map[string]any), v.(tree.Tree)
}

// plain converts values of package tree to plain maps and slices.
func plain(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		m := make(map[string]any, len(v))
		for name, e := range v {
			m[name] = plain(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = plain(e)
		}
		return l
	}
	return v
}

// An oracle is an authorizer for the reference implementation. It allows the verb get and returns
// an error for secrets.
type oracle struct{ user string }

var errSecret = fmt.Errorf("nobody knows")

func (o oracle) answer(verb, label string) (bool, string, error) {
	if strings.Contains(label, "secrets") {
		return false, "", errSecret
	}
	return verb == "get", o.user + " may " + verb + " " + label, nil
}

func (o oracle) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	o.user = a.GetUser().GetName()
	label := a.GetPath()
	if a.IsResourceRequest() {
		label = strings.Join([]string{a.GetAPIGroup(), a.GetAPIVersion(), a.GetResource(), a.GetSubresource(), a.GetNamespace(), a.GetName()}, "|")
		fields, _ := a.GetFieldSelector()
		for _, f := range fields {
			label += fmt.Sprint("|", f.Field, f.Value)
		}
		labels, _ := a.GetLabelSelector()
		for _, l := range labels {
			label += fmt.Sprint("|", l.Key(), l.ValuesUnsorted())
		}
	}
	allowed, reason, err := o.answer(a.GetVerb(), label)
	if allowed {
		return authorizer.DecisionAllow, reason, err
	}
	return authorizer.DecisionNoOpinion, reason, err
}

// An ourOracle adapts an oracle to package cel.
type ourOracle struct{ oracle }

func (o ourOracle) Authorize(_ context.Context, a cel.Access) (bool, string, error) {
	label := a.Path
	if label == "" {
		label = strings.Join([]string{a.Group, "*", a.Resource, a.Subresource, a.Namespace, a.Name}, "|")
		for _, f := range a.Fields {
			label += fmt.Sprint("|", f.Key, f.Values[0])
		}
		for _, l := range a.Labels {
			label += fmt.Sprint("|", l.Key, l.Values)
		}
	}
	return o.answer(a.Verb, label)
}

func (o ourOracle) ServiceAccount(namespace, name string) cel.Authorizer {
	return ourOracle{oracle{"system:serviceaccount:" + namespace + ":" + name}}
}

// same reports whether two error messages are equal except for the prefixes of type names.
func same(ours, reference string) bool {
	return strings.ReplaceAll(ours, "platform.", "kubernetes.") == reference
}

func comparer(t testing.TB) func(text string) (ours, reference outcome) {
	t.Helper()
	env := referenceEnv(t)
	ourEnv, err := cel.NewEnv(meta.Kubernetes, cel.Variable("object", cel.Dyn), cel.Variable("authorizer", cel.Authorization),
		cel.Variable("authorizer.requestResource", cel.ResourceAuthorization), cel.PatchTypes())
	if err != nil {
		t.Fatal(err)
	}
	input, ourInput := decode(t, celObject)
	someone := &user.DefaultInfo{Name: "someone"}
	variables := map[string]any{"object": input, "authorizer": library.NewAuthorizerVal(someone, oracle{})}
	ourVariables := cel.Variables{"object": ourInput, "authorizer": cel.NewAuthorization(t.Context(), ourOracle{oracle{"someone"}})}
	return func(text string) (outcome, outcome) {
		return byOurs(ourEnv, text, ourVariables), byReference(env, text, variables)
	}
}
