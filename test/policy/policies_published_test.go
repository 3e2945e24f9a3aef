package policy

import (
	"net/http"
	"strings"
	"testing"
)

// TestPublishedExamples checks that the examples in the Kubernetes documentation work as
// documented.
func TestPublishedExamples(t *testing.T) {
	t.Parallel()
	c := openPolicies(t, "kubernetes")
	create := func(path, text string) {
		t.Helper()
		c.sendAs(201, http.MethodPost, path, "application/yaml", strings.TrimSpace(text))
	}
	deployment := func(namespace, replicas string) (string, string) {
		return "/apis/apps/v1/namespaces/" + namespace + "/deployments", `{"metadata":{"name":"nginx"},"spec":{"replicas":` + replicas + `,"selector":{"matchLabels":{"app":"nginx"}},"template":{"metadata":{"labels":{"app":"nginx"}},"spec":{"containers":[{"name":"nginx","image":"nginx"}]}}}}`
	}
	const policies, bindings = admissionPath + "v1/validatingadmissionpolicies", admissionPath + "v1/validatingadmissionpolicybindings"
	create("/api/v1/namespaces", "metadata: {name: test, labels: {environment: test}}")
	create(policies, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: "demo-policy.example.com"
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups:   ["apps"]
      apiVersions: ["v1"]
      operations:  ["CREATE", "UPDATE"]
      resources:   ["deployments"]
  validations:
    - expression: "object.spec.replicas <= 5"`)
	create(bindings, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: "demo-binding-test.example.com"
spec:
  policyName: "demo-policy.example.com"
  validationActions: [Deny]
  matchResources:
    namespaceSelector:
      matchLabels:
        environment: test`)
	path, body := deployment("test", "6")
	c.send(422, http.MethodPost, path, body, `deployments.apps "nginx" is forbidden: ValidatingAdmissionPolicy 'demo-policy.example.com' with binding 'demo-binding-test.example.com' denied request: failed expression: object.spec.replicas <= 5`)
	path, body = deployment("default", "6")
	c.send(201, http.MethodPost, path, body)

	create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `
metadata: {name: replicalimits.rules.example.com}
spec:
  group: rules.example.com
  scope: Namespaced
  names: {plural: replicalimits, kind: ReplicaLimit}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {maxReplicas: {type: integer}}}}}]`)
	create(policies, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: "replicalimit-policy.example.com"
spec:
  failurePolicy: Fail
  paramKind:
    apiVersion: rules.example.com/v1
    kind: ReplicaLimit
  matchConstraints:
    resourceRules:
    - apiGroups:   ["apps"]
      apiVersions: ["v1"]
      operations:  ["CREATE", "UPDATE"]
      resources:   ["deployments"]
  validations:
    - expression: "object.spec.replicas <= params.maxReplicas"
      messageExpression: "'object.spec.replicas must be no greater than ' + string(params.maxReplicas)"
      reason: Invalid`)
	create(bindings, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: "replicalimit-binding-test.example.com"
spec:
  policyName: "replicalimit-policy.example.com"
  validationActions: [Deny]
  paramRef:
    name: "replica-limit-test.example.com"
    namespace: "default"
    parameterNotFoundAction: Deny
  matchResources:
    namespaceSelector:
      matchLabels:
        environment: test`)
	create("/apis/rules.example.com/v1/namespaces/default/replicalimits", `
apiVersion: rules.example.com/v1
kind: ReplicaLimit
metadata: {name: replica-limit-test.example.com}
maxReplicas: 3`)
	path, body = deployment("test", "4")
	c.send(422, http.MethodPost, path, body, "'replicalimit-binding-test.example.com' denied request: object.spec.replicas must be no greater than 3")
	path, body = deployment("test", "3")
	c.send(201, http.MethodPost, path, body)

	create(admissionPath+"v1beta1/mutatingadmissionpolicies", `
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata:
  name: "sidecar-policy.example.com"
spec:
  paramKind:
    kind: ConfigMap
    apiVersion: v1
  matchConstraints:
    resourceRules:
    - apiGroups:   [""]
      apiVersions: ["v1"]
      operations:  ["CREATE"]
      resources:   ["pods"]
  matchConditions:
    - name: does-not-already-have-sidecar
      expression: "!has(object.spec.initContainers) || !object.spec.initContainers.exists(ic, ic.name == \"mesh-proxy\")"
  failurePolicy: Fail
  reinvocationPolicy: IfNeeded
  mutations:
    - patchType: "ApplyConfiguration"
      applyConfiguration:
        expression: >
          Object{
            spec: Object.spec{
              initContainers: [
                Object.spec.initContainers{
                  name: "mesh-proxy",
                  image: params.data.image,
                  args: ["proxy", "sidecar"],
                  restartPolicy: "Always"
                }
              ]
            }
          }
    - patchType: "JSONPatch"
      jsonPatch:
        expression: >
          has(object.metadata.labels) ? [] : [JSONPatch{op: "add", path: "/metadata/labels", value: {"mesh": "on"}}]`)
	create(admissionPath+"v1beta1/mutatingadmissionpolicybindings", `
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: "sidecar-binding-test.example.com"
spec:
  policyName: "sidecar-policy.example.com"
  paramRef: {name: mesh, namespace: default, parameterNotFoundAction: Deny}`)
	c.send(201, http.MethodPost, configMaps, configMap("mesh", `"image":"mesh/proxy:v1.0.0"`))
	const pod = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	c.send(403, http.MethodPost, pods, pod, "may not mutate atomic arrays, maps or structs: .spec.initContainers[0].args")
	c.sendAs(200, http.MethodPatch, admissionPath+"v1beta1/mutatingadmissionpolicies/sidecar-policy.example.com", "application/json-patch+json",
		`[{"op":"replace","path":"/spec/mutations/0/applyConfiguration/expression","value":"Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'mesh-proxy', image: params.data.image, restartPolicy: 'Always'}]}}"}]`)
	c.send(201, http.MethodPost, pods, pod, `"name":"mesh-proxy"`, `"image":"mesh/proxy:v1.0.0"`, `"labels":{"mesh":"on"}`)
}
