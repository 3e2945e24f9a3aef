package catalog

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog/internal/admissionregistration"
	"github.com/troupe-api/troupe/kinds/catalog/internal/apiextensions"
	"github.com/troupe-api/troupe/kinds/catalog/internal/apiregistration"
	"github.com/troupe-api/troupe/kinds/catalog/internal/apps"
	"github.com/troupe-api/troupe/kinds/catalog/internal/autoscaling"
	"github.com/troupe-api/troupe/kinds/catalog/internal/batch"
	"github.com/troupe-api/troupe/kinds/catalog/internal/certificates"
	"github.com/troupe-api/troupe/kinds/catalog/internal/core"
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/volume"
	"github.com/troupe-api/troupe/kinds/catalog/internal/discovery"
	"github.com/troupe-api/troupe/kinds/catalog/internal/events"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/flowcontrol"
	"github.com/troupe-api/troupe/kinds/catalog/internal/networking"
	"github.com/troupe-api/troupe/kinds/catalog/internal/node"
	"github.com/troupe-api/troupe/kinds/catalog/internal/policy"
	"github.com/troupe-api/troupe/kinds/catalog/internal/rbac"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resource"
	"github.com/troupe-api/troupe/kinds/catalog/internal/scheduling"
	"github.com/troupe-api/troupe/kinds/catalog/internal/storage"
	"github.com/troupe-api/troupe/kinds/catalog/internal/storagemigration"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

func (b *builtIns) deviceSelectors(f Features) *expressions.DeviceSelectors {
	return expressions.NewDeviceSelectors(b.naming, f.Fields != nil && f.Fields("DRAConsumableCapacity"))
}

// kindsWithFunctions lists the built-in kinds that need code, by group. Other kinds are fully
// described by their declaration.
func (b *builtIns) kindsWithFunctions(f Features) []family.Kind {
	n := b.naming
	return slices.Concat(
		admissionregistration.Kinds(b.expressions),
		apiextensions.Kinds(n, b.definitions, b.hasGroup),
		apiregistration.Kinds(),
		apps.Kinds(n, b.message),
		autoscaling.Kinds(n, b.message),
		batch.Kinds(n, b.message),
		certificates.Kinds(),
		core.Kinds(n),
		discovery.Kinds(n),
		events.Kinds(),
		flowcontrol.Kinds(),
		networking.Kinds(n),
		node.Kinds(n),
		pod.Kinds(n, b.message),
		policy.Kinds(),
		rbac.Kinds(n),
		resource.Kinds(b.deviceSelectors(f), b.message),
		scheduling.Kinds(),
		storage.Kinds(n),
		storagemigration.Kinds(),
		volume.Kinds(n, b.message),
	)
}

func ruleFunctions(n *meta.Naming, f Features) map[string]schema.CheckFunc {
	all := map[string]schema.CheckFunc{}
	for _, functions := range []map[string]schema.CheckFunc{
		admissionregistration.RuleFunctions, apps.RuleFunctions, autoscaling.RuleFunctions(f.ScaleToZero), batch.RuleFunctions(n), certificates.RuleFunctions, core.RuleFunctions,
		events.RuleFunctions, flowcontrol.RuleFunctions(n), networking.RuleFunctions, pod.RuleFunctions, resource.RuleFunctions, storage.RuleFunctions,
		storagemigration.RuleFunctions, volume.RuleFunctions,
	} {
		maps.Copy(all, functions)
	}
	return all
}
