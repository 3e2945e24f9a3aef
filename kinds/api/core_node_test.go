package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestNode(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "Node")
	EqualJSON(t, "defaults", Defaulted(t, k, `{"spec":{"podCIDR":"10.0.0.0/24","configSource":{"configMap":{"name":"a"}}},"status":{"capacity":{"cpu":"4"}}}`),
		`{"spec":{"podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24"]},"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"4"}}}`)
	EqualJSON(t, "ranges", Defaulted(t, k, `{"spec":{"podCIDRs":["10.0.0.0/24","fd00::/64"]}}`), `{"spec":{"podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24","fd00::/64"]}}`)
	EqualJSON(t, "old field", Defaulted(t, k, `{"spec":{"podCIDR":"10.1.0.0/24","podCIDRs":["10.0.0.0/24","fd00::/64"]}}`), `{"spec":{"podCIDR":"10.1.0.0/24","podCIDRs":["10.1.0.0/24"]}}`)
	RunBodyCases(t, k, []BodyCase{
		{Body: `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoExecute","value":"b"}]}}`, Want: nil},
		{Body: `{"spec":{"taints":[{"key":"a b","effect":"Never","value":"c d"},{"key":"a"},{"key":"x","effect":"NoExecute"},{"key":"x","effect":"NoExecute"}]}}`, Want: []string{
			`metadata.taints[0].key: Invalid value: "a b": name part…`, `metadata.taints[0].value: Invalid value: "c d": a valid label…`,
			`metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
			`metadata.taints[1].effect: Required value`, `metadata.taints[3]: Duplicate value: {"effect":"NoExecute","key":"x"}`}},
		{Body: `{"spec":{"podCIDRs":["10.0.0.0/33"]}}`, Want: []string{`spec.podCIDRs[0]: Invalid value: "10.0.0.0/33": must be a valid CIDR value…`}},
		{Body: `{"spec":{"podCIDRs":["10.0.0.0/24","10.1.0.0/24"]}}`, Want: []string{`spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one CIDR for each IP family`}},
		{Body: `{"status":{"capacity":{"cpu":"-1","pods":"1500m","hugepages-1Gi":"1Gi","hugepages-2Mi":"2Mi"},"allocatable":{}}}`, Want: []string{
			`status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0`, `status.capacity.hugepages-2Mi: Invalid value: "2Mi": may not have pre-allocated hugepages for multiple page sizes`,
			`status.capacity.pods: Invalid value: "1500m": must be an integer`, `status.capacity.pods: Invalid value: "1500m": may not have pre-allocated hugepages for multiple page sizes`}},
		{Body: `{"status":{"addresses":[{"type":"InternalIP","address":"a"},{"type":"InternalIP","address":"b"},{"type":"InternalIP","address":"a"}]}}`, Want: []string{
			`status.addresses[2]: Duplicate value: {"address":"a","type":"InternalIP"}`}},
	})
	RunUpdateCases(t, k, []UpdateCase{
		{Old: `{"spec":{}}`, Now: `{"spec":{"podCIDR":"10.0.0.0/24","providerID":"p","unschedulable":true,"taints":[{"key":"a","effect":"NoSchedule"}]}}`, Want: nil},
		{Old: `{"spec":{"podCIDR":"10.0.0.0/24","providerID":"p"}}`, Now: `{"spec":{"podCIDR":"10.1.0.0/24","providerID":"q"}}`, Want: []string{
			`spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid`, `spec.providerID: Forbidden: node updates may not change providerID except from "" to valid`}},
		{Old: `{"spec":{}}`, Now: `{"spec":{"externalID":"e"}}`, Want: []string{`: Forbidden: node updates may only change labels, taints, or capacity…`}},
	})
	old, now := Named(k, Parse(t, `{"status":{"phase":"Running"}}`)), Named(k, Parse(t, `{"status":{"phase":"Gone"}}`))
	Expect(t, "status", Update(k, now, old), nil)
	if got := now.Object("status").String("phase"); got != "Running" {
		t.Errorf("an update of the main resource set status.phase to %s", got)
	}
}
