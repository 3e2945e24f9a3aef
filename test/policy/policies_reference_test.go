package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/troupe-api/troupe/test/client"
)

// TestReference builds policies from these parts.
var (
	referenceValidations = []string{
		`object.data.x == 'y'`, `object.data.x == 'z'`, `object.data.none == ''`, `has(object.data.none)`, `object.?data.?none.orValue('z') == 'z'`,
		`oldObject == null`, `oldObject.data.x == ''`, `size(object.data) > 1 && object.data.none == ''`, `object.data.none == '' || true`,
		`request.operation == 'CREATE'`, `request.name == 'b'`, `request.?subResource.orValue('') == ''`, `request.options.kind == 'CreateOptions'`, `request.dryRun`,
		`request.userInfo.groups.exists(g, g == 'system:masters')`, `namespaceObject.metadata.name == 'default'`, `namespaceObject.metadata.?labels['x'].hasValue()`,
		`object.data.map(k, v, k + v).size() == 2`, `object.data.exists(k, object.data[k] == 'nothing')`, `object.data.all(k, k.matches('^[a-z]$'))`,
		`int(object.data.x) > 1`, `quantity(object.data.x).isGreaterThan(quantity('1'))`, `object.data.x.startsWith(1 > 0 ? 'y' : 'n')`, `dyn(object.data.x) == 1`, `object.data.x < 3`,
		`variables.v == 'y'`, `variables.w`, `variables.broken`, `'v' in variables`, `variables.v.lowerAscii() == 'y' && variables.w`, `authorizer.group('').resource('pods').check('get').allowed()`,
		`!authorizer.serviceAccount('default', 'x').path('/x').check('get').allowed()`, `authorizer.requestResource.check('get').reason() == 'x'`, `authorizer.path('').check('get').allowed()`,
		ten + `.all(a, ` + ten + `.all(b, ` + ten + `.all(c, object.data.x == 'y')))`, expensive,
	}
	referenceMessages    = []string{``, `'x is ' + object.data.x`, `string(object.data.none)`, `'  '`, `'a\nb'`, `variables.v + '!'`, `request.operation`}
	referenceConditions  = []string{``, `true`, `object.data.x == 'y'`, `object.data.x == 'z'`, `object.data.none == ''`, `request.name == 'a'`, `namespaceObject.metadata.name == ''`}
	referenceAnnotations = []string{``, `'v'`, `null`, `string(object.data.none)`}
)

const referenceVariables = `[{"name":"v","expression":"object.data.x"},{"name":"w","expression":"variables.v == 'y' && size(object.data) == 2"},{"name":"broken","expression":"object.data.none == variables.v"}]`

// TestReference compares policy decisions with those of k8s.io/apiserver.
func TestReference(t *testing.T) {
	t.Parallel()
	c := openPolicies(t, "kubernetes")
	outcomes := map[string]int{}
	i := 0
	for _, failurePolicy := range []string{"Fail", "Ignore"} {
		for at, expression := range referenceValidations {
			message, condition := referenceMessages[(at+i)%len(referenceMessages)], referenceConditions[(at*3+i)%len(referenceConditions)]
			outcomes[c.compare(fmt.Sprintf("p%d", i), failurePolicy, expression, message, condition, referenceAnnotations[at%len(referenceAnnotations)])]++
			outcomes[c.compare(fmt.Sprintf("q%d", i), failurePolicy, expression, referenceMessages[at%len(referenceMessages)], "", "")]++
			i++
		}
	}
	for _, condition := range referenceConditions {
		for _, message := range referenceMessages {
			outcomes[c.compare(fmt.Sprintf("r%d", i), "Fail", "object.data.x == 'z'", message, condition, "")]++
			i++
		}
	}
	if len(outcomes) < 15 || outcomes["admitted"] < 20 || outcomes["refused"] > 20 {
		t.Errorf("the outcomes are %v", outcomes)
	}
}

// compare compares a policy's outcome with the reference implementation and returns it. The outcome
// is "refused" if the server rejects the policy.
func (c policyCluster) compare(name, failurePolicy, expression, message, condition, annotation string) string {
	spec := map[string]any{
		"failurePolicy": failurePolicy, "variables": json.RawMessage(referenceVariables),
		"matchConstraints": json.RawMessage(policyConfigMaps),
		"validations":      []any{map[string]any{"expression": expression, "message": "no", "messageExpression": message}, map[string]any{"expression": "size(object.data) < 9", "reason": "Forbidden"}},
	}
	if condition != "" {
		spec["matchConditions"] = []any{map[string]any{"name": "c", "expression": condition}}
	}
	if annotation != "" {
		spec["auditAnnotations"] = []any{map[string]any{"key": "k", "valueExpression": annotation}}
	}
	text := client.Encode(c.T, map[string]any{"metadata": map[string]any{"name": name}, "spec": spec})
	var policy v1.ValidatingAdmissionPolicy
	client.Decode(c.T, text, &policy)
	a, err := c.Do(c.Ctx, http.MethodPost, c.named(admissionPath+"v1/validatingadmissionpolicies"), client.JSON, text)
	if err != nil || a.Code != 201 {
		return "refused"
	}
	c.send(201, http.MethodPost, admissionPath+"v1/validatingadmissionpolicybindings", `{"metadata":{"name":"`+name+`"},"spec":{"policyName":"`+name+`","validationActions":["Deny"]}}`)
	answer, err := c.Do(c.Ctx, http.MethodPost, configMaps+"?dryRun=All", client.JSON, []byte(configMap("a", `"x":"y","w":"1"`)))
	if err != nil {
		c.T.Fatal(err)
	}
	got := "admitted"
	var status metav1.Status
	if answer.Code != 201 {
		client.Decode(c.T, answer.Body, &status)
		got = fmt.Sprintf("%s: %s", status.Reason, strings.TrimPrefix(status.Message, fmt.Sprintf("configmaps \"a\" is forbidden: ValidatingAdmissionPolicy '%s' with binding '%s' denied request: ", name, name)))
	}
	if want := reference(c.T, &policy); got != want {
		c.T.Errorf("%s %s, message %s, condition %s, annotation %s:\n got  %s\n want %s", failurePolicy, expression, message, condition, annotation, got, want)
	}
	c.send(200, http.MethodDelete, admissionPath+"v1/validatingadmissionpolicybindings/"+name, "")
	c.send(200, http.MethodDelete, admissionPath+"v1/validatingadmissionpolicies/"+name, "")
	return got
}

// allowsAll is an authorizer that allows all requests except those of service accounts.
type allowsAll struct{}

func (allowsAll) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if strings.HasPrefix(a.GetUser().GetName(), "system:serviceaccount") {
		return authorizer.DecisionNoOpinion, "", nil
	}
	return authorizer.DecisionAllow, "", nil
}

// reference returns the outcome of a policy in the reference implementation.
func reference(t *testing.T, policy *v1.ValidatingAdmissionPolicy) string {
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		t.Fatal(err)
	}
	options, noAuthorizer := cel.OptionalVariableDeclarations{HasAuthorizer: true}, cel.OptionalVariableDeclarations{}
	var variables []cel.NamedExpressionAccessor
	for _, v := range policy.Spec.Variables {
		variables = append(variables, &validating.Variable{Name: v.Name, Expression: v.Expression})
	}
	compiler.CompileAndStoreVariables(variables, options, environment.StoredExpressions)
	var conditions, validations, annotations []cel.ExpressionAccessor
	messages := make([]cel.ExpressionAccessor, len(policy.Spec.Validations))
	for i := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	for i, v := range policy.Spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		if v.MessageExpression != "" {
			messages[i] = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
	}
	for _, a := range policy.Spec.AuditAnnotations {
		annotations = append(annotations, &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression})
	}
	var matcher matchconditions.Matcher
	if len(conditions) > 0 {
		matcher = matchconditions.NewMatcher(compiler.CompileCondition(conditions, options, environment.StoredExpressions), policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
	}
	compile := func(all []cel.ExpressionAccessor, o cel.OptionalVariableDeclarations) cel.ConditionEvaluator {
		return compiler.CompileCondition(all, o, environment.StoredExpressions)
	}
	v := validating.NewValidator(compile(validations, options), matcher, compile(annotations, options), compile(messages, noAuthorizer), policy.Spec.FailurePolicy, nil)
	gvk, gvr := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "default"}, "data": map[string]any{"x": "y", "w": "1"}}}
	by := &user.DefaultInfo{Name: "admin", Groups: []string{"system:masters", "system:authenticated"}}
	create := &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"}, DryRun: []string{"All"}}
	attributes := admission.NewAttributesRecord(object, nil, gvk, "default", "a", gvr, "", admission.Create, create, true, by)
	result := v.Validate(t.Context(), gvr, &admission.VersionedAttributes{Attributes: attributes, VersionedKind: gvk, VersionedObject: admission.NewLazyObject(object)},
		nil, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, celconfig.RuntimeCELCostBudget, allowsAll{})
	for _, d := range result.Decisions {
		if d.Action == validating.ActionDeny {
			reason := d.Reason
			if reason == "" {
				reason = metav1.StatusReasonInvalid
			}
			return fmt.Sprintf("%s: %s", reason, d.Message)
		}
	}
	for _, a := range result.AuditAnnotations {
		if a.Action == validating.AuditAnnotationActionError {
			return "Invalid: " + a.Error
		}
	}
	return "admitted"
}
