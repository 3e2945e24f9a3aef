package catalog

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/api/admissionregistration"
	"github.com/troupe-api/troupe/kinds/api/apiextensions"
	"github.com/troupe-api/troupe/kinds/api/apiregistration"
	"github.com/troupe-api/troupe/kinds/api/apps"
	"github.com/troupe-api/troupe/kinds/api/autoscaling"
	"github.com/troupe-api/troupe/kinds/api/batch"
	"github.com/troupe-api/troupe/kinds/api/certificates"
	"github.com/troupe-api/troupe/kinds/api/core"
	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/api/core/volume"
	"github.com/troupe-api/troupe/kinds/api/discovery"
	"github.com/troupe-api/troupe/kinds/api/events"
	"github.com/troupe-api/troupe/kinds/api/flowcontrol"
	"github.com/troupe-api/troupe/kinds/api/lifecycle"
	"github.com/troupe-api/troupe/kinds/api/networking"
	"github.com/troupe-api/troupe/kinds/api/node"
	"github.com/troupe-api/troupe/kinds/api/policy"
	"github.com/troupe-api/troupe/kinds/api/rbac"
	"github.com/troupe-api/troupe/kinds/api/resource"
	"github.com/troupe-api/troupe/kinds/api/scheduling"
	"github.com/troupe-api/troupe/kinds/api/storage"
	"github.com/troupe-api/troupe/kinds/api/storagemigration"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func (b *builtIns) deviceSelectors(f Features) *expressions.DeviceSelectors {
	return expressions.NewDeviceSelectors(b.naming, f.enabled("DRAConsumableCapacity"))
}

// kindsWithFunctions returns the built-in kinds that need code, by group. Declarations fully
// describe all others.
func (b *builtIns) kindsWithFunctions(f Features) []schema.Behavior {
	n := b.naming
	return slices.Concat(
		admissionregistration.Kinds(b.expressions),
		apiextensions.Kinds(n),
		apiregistration.Kinds(),
		apps.Kinds(b.message, f.enabled),
		autoscaling.Kinds(n, b.message),
		batch.Kinds(n, b.message),
		certificates.Kinds(),
		core.Kinds(n),
		discovery.Kinds(),
		events.Kinds(),
		flowcontrol.Kinds(),
		lifecycle.Kinds(),
		networking.Kinds(),
		node.Kinds(),
		pod.Kinds(n, b.message, f.enabled),
		policy.Kinds(),
		rbac.Kinds(n),
		resource.Kinds(b.deviceSelectors(f), b.message),
		scheduling.Kinds(),
		storage.Kinds(),
		storagemigration.Kinds(),
		volume.Kinds(n, b.message),
	)
}

func (b *builtIns) ruleFunctions(f Features) map[string]schema.CheckFunc {
	n := b.naming
	all := map[string]schema.CheckFunc{}
	for _, functions := range []map[string]schema.CheckFunc{
		admissionregistration.RuleFunctions, apiextensions.RuleFunctions(n, b.definitions, b.hasGroup), apps.RuleFunctions, autoscaling.RuleFunctions(f.enabled(gateScaleToZero)), batch.RuleFunctions(n), certificates.RuleFunctions, core.RuleFunctions,
		events.RuleFunctions, flowcontrol.RuleFunctions(n), networking.RuleFunctions, pod.RuleFunctions, resource.RuleFunctions, storage.RuleFunctions,
		volume.RuleFunctions, rules.AddressWarnings,
		b.expressions.AccessChecks(b.message("authorization.v1.SubjectAccessReviewSpec")),
	} {
		maps.Copy(all, functions)
	}
	return all
}
