package api

import (
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func deploy(name, spec, pods string) string {
	if spec != "" {
		spec += ","
	}
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"` + name + `"},"spec":{` + spec +
		`"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{` + pods + `}}}}`
}

func part(name, spec string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`
}

func TestListsWithKeys(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := applyDeployment + "/d"
	s.apply(201, "one", path, deploy("d", "", `"containers":[{"name":"a","image":"a","env":[{"name":"E","value":"1"}]},{"name":"b","image":"b"}]`))
	sidecar := `"template":{"spec":{"containers":[{"name":"s","image":"s"},{"name":"a","env":[{"name":"F","value":"2"}]}]}}`
	merged := s.apply(200, "two", path, part("d", sidecar))
	s.has(merged, map[string]string{
		"spec.template.spec.containers.0.name": `"s"`, "spec.template.spec.containers.1.name": `"a"`, "spec.template.spec.containers.2.name": `"b"`,
		"spec.template.spec.containers.1.env": `[{"name":"E","value":"1"},{"name":"F","value":"2"}]`,
	})
	// Manager one drops the variable E. The variable F stays, because manager two owns it.
	left := s.apply(200, "one", path, deploy("d", "", `"containers":[{"name":"b","image":"b"},{"name":"a","image":"a"}]`))
	s.has(left, map[string]string{"spec.template.spec.containers.1.name": `"b"`, "spec.template.spec.containers.2.env": `[{"name":"F","value":"2"}]`})
	dropped := s.apply(200, "two", path, part("d", ``))
	s.has(dropped, map[string]string{"spec.template.spec.containers.0.name": `"b"`, "spec.template.spec.containers.2": `null`})
}

func TestListsWithDefaultedKeys(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := services + "/s"
	config := func(ports string) string {
		return `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[` + ports + `]}}`
	}
	s.apply(201, "one", path, config(`{"name":"dns","port":53}`))
	both := s.apply(200, "two", path, config(`{"name":"dns-udp","port":53,"protocol":"UDP"}`))
	s.has(both, map[string]string{"spec.ports.1.protocol": `"UDP"`, "spec.ports.0.protocol": `"TCP"`})
	s.apply(409, "two", path, config(`{"name":"other","port":53}`))
	gone := s.apply(200, "one", path, config(``))
	s.has(gone, map[string]string{"spec.ports.0.protocol": `"UDP"`, "spec.ports.1": `null`})
}

// TestListsWithOptionalKeys checks apply to a list whose items may lack one of the list map keys.
// For example, drivers omit shareID for devices that are not shared.
func TestListsWithOptionalKeys(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	const claims = "/apis/resource.platform.io/v1/namespaces/default/resourceclaims"
	s.create(claims, `{"apiVersion":"resource.platform.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"d"}}]}}}`)
	result := func(device string) string {
		return `{"request":"r","driver":"e.com","pool":"p","device":"` + device + `"}`
	}
	s.Send(200, "PATCH", claims+"/c/status?fieldManager=scheduler", client.MergePatch,
		`{"status":{"allocation":{"devices":{"results":[`+result("a")+`,`+result("b")+`]}},"reservedFor":[{"resource":"pods","name":"x","uid":"u"}]}}`)
	config := func(device, data string) string {
		return `{"apiVersion":"resource.platform.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"status":{"devices":[{"driver":"e.com","pool":"p","device":"` + device + `","data":{"is":"` + data + `"}}]}}`
	}
	s.apply(200, "one", claims+"/c/status", config("a", "1"))
	both := s.apply(200, "two", claims+"/c/status", config("b", "2"))
	s.has(both, map[string]string{"status.devices.0.device": `"a"`, "status.devices.1.device": `"b"`})
	s.owns(both, `one Apply status {"f:status":{"f:devices":{"k:{\"device\":\"a\",\"driver\":\"e.com\",\"pool\":\"p\"}":{".":{},"f:data":{},"f:device":{},"f:driver":{},"f:pool":{}}}}}`)
	s.apply(409, "two", claims+"/c/status", config("a", "2"))
}

func TestSets(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	config := func(finalizers string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","finalizers":[` + finalizers + `]}}`
	}
	s.apply(201, "one", path, config(`"e.com/a","e.com/b"`))
	both := s.apply(200, "two", path, config(`"e.com/c","e.com/b"`))
	s.owned(both, `one Apply {"f:metadata":{"f:finalizers":{"v:\"e.com/a\"":{},"v:\"e.com/b\"":{}}}}`,
		`two Apply {"f:metadata":{"f:finalizers":{"v:\"e.com/b\"":{},"v:\"e.com/c\"":{}}}}`)
	left := s.apply(200, "one", path, config(``))
	s.has(left, map[string]string{"metadata.finalizers": `["e.com/c","e.com/b"]`})
	s.has(s.apply(200, "two", path, configMap("a", ``)), map[string]string{"metadata.finalizers": `null`})
}

func TestAtomics(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := applyDeployment + "/d"
	const image = `{"name":"c","image":"i"}`
	s.apply(201, "one", path, deploy("d", ``, `"containers":[{"name":"c","image":"i","args":["x","y"]}],"nodeSelector":{"a":"b"}`))
	s.has(s.apply(409, "two", path, part("d", `"template":{"spec":{"containers":[{"name":"c","args":["x"]}]}}`)), map[string]string{
		"details.causes.0.field": `".spec.template.spec.containers[name=\"c\"].args"`, "details.causes.1": `null`})
	s.has(s.apply(409, "two", path, part("d", `"template":{"spec":{"nodeSelector":{"c":"d"}}}`)), map[string]string{
		"details.causes.0.field": `".spec.template.spec.nodeSelector"`})
	s.has(s.apply(409, "two", path, part("d", `"selector":{"matchLabels":{"c":"d"}}`)), map[string]string{
		"details.causes.0.field": `".spec.selector"`})
	forced := s.apply(200, "two&force=true", path, part("d", `"template":{"spec":{"nodeSelector":{"c":"d"}}}`))
	s.has(forced, map[string]string{"spec.template.spec.nodeSelector": `{"c":"d"}`})
	s.apply(200, "one", path, deploy("d", ``, `"containers":[`+image+`]`))
	s.has(s.get(path), map[string]string{"spec.template.spec.containers.0.args": `null`, "spec.template.spec.nodeSelector": `{"c":"d"}`})
}

func TestGoneFieldsHaveTheirDefaults(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := applyDeployment + "/d"
	const pods = `"containers":[{"name":"c","image":"i"}]`
	made := s.apply(201, "one", path, deploy("d", `"replicas":3,"minReadySeconds":5,"strategy":{"type":"Recreate"}`, pods+`,"dnsPolicy":"Default"`))
	s.has(made, map[string]string{"spec.replicas": "3", "spec.revisionHistoryLimit": "10"})
	left := s.apply(200, "one", path, deploy("d", ``, pods))
	s.has(left, map[string]string{"spec.replicas": "1", "spec.minReadySeconds": "null", "spec.strategy.type": `"RollingUpdate"`,
		"spec.template.spec.dnsPolicy": `"ClusterFirst"`})
	s.owned(left, `one Apply {"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{}}}}}}}`)
}

func TestMapsAndNestedFields(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	config := func(metadata string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",` + metadata + `}}`
	}
	s.apply(201, "one", path, config(`"labels":{"a":"1","b":"1"},"annotations":{"x/y":"1"}`))
	s.apply(200, "two", path, config(`"labels":{"b":"1","c":"1"}`))
	left := s.apply(200, "one", path, config(`"annotations":{"x/y":"1"}`))
	s.has(left, map[string]string{"metadata.labels": `{"b":"1","c":"1"}`})
	s.owned(left, `one Apply {"f:metadata":{"f:annotations":{"f:x/y":{}}}}`, `two Apply {"f:metadata":{"f:labels":{"f:b":{},"f:c":{}}}}`)
}
