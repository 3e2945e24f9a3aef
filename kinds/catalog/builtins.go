package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/api"
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// builtIns contains the built-in kinds of a naming profile. It is immutable and shared by all
// catalogs of a process, because compiling kinds dominates the cost of creating a catalog.
type builtIns struct {
	naming *meta.Naming
	plan   *schema.Plan
	// expressions compiles the expressions in admission policies and webhooks.
	expressions *expressions.Compiler
	// definitions compiles CRD schemas only to validate them. Each catalog has its own compiler for
	// served CRDs.
	definitions *crd.Compiler
	// set contains all built-in kinds, none marked as served. Each catalog selects the kinds that
	// it serves.
	set kindSet
}

// builtInsKey is the cache key of compiled built-in kinds. A process uses few keys, so entries are
// never evicted.
type builtInsKey struct {
	naming *meta.Naming
	// features lists the enabled gates of compiledFeatures, each followed by a comma.
	features string
}

// compiledFeatures lists the feature gates that affect compiled kinds, such as the gates of
// fields and rules.
var compiledFeatures = []string{
	"AtomicWriteVolumeUserFields", "CRDObservedGenerationTracking", "CSIVolumeHealth", "ClusterTrustBundleProjection", "CompositePodGroup", "ContainerStopSignals",
	"CoordinatedLeaderElection", "DRAConsumableCapacity", "DRADerivedAttributes", "DRADeviceBindingConditions", "DRADeviceCompatibilityGroups",
	"DRADeviceTaints", "DRAListTypeAttributes", "DRANodeAllocatableResources", "DRAOptionalNodeOperations", "DRAPartitionableDevices",
	"DRAPartitionableDevicesType", "DRAWorkloadResourceClaims", "EmptyDirVolumeMode", "EvictionRequestAPI", "ExcludeAdmissionWebhookVirtualResources", "GRPCContainerProbeTLS", "GenericWorkload",
	"H2CContainerProbe", gateScaleToZero, "ImageVolumeWithDigest", "InPlacePodVerticalScalingSchedulerPreemption", "KubeletInUserNamespace",
	"ManifestBasedAdmissionControlConfig", "MaxUnavailableStatefulSet", "PodCertificateRequest", "PodGroupPreemptionPolicy", "ResourceHealthStatusMessage", "StatefulSetRecreateStrategy", "StrictIPCIDRValidation",
	"TaintTolerationComparisonOperators", "TopologyAwareWorkloadScheduling", "VolumeBindMountOptions", "VolumeLimitScaling", "WorkloadWithJob",
}

const gateScaleToZero = "HPAScaleToZero"

func (f Features) key(n *meta.Naming) builtInsKey {
	k := builtInsKey{naming: n}
	for _, name := range compiledFeatures {
		if f.enabled(name) {
			k.features += name + ","
		}
	}
	return k
}

// checkFeatures returns an error if a field's feature gate is missing from compiledFeatures. Kinds
// compiled with and without that gate would otherwise share a cache key.
func checkFeatures(messages []*schema.Message) error {
	for _, m := range messages {
		for _, f := range m.Fields {
			if f.Feature != "" && !slices.Contains(compiledFeatures, f.Feature) {
				return fmt.Errorf("%s.%s: %s is not a feature of fields", m.Name, f.Name, f.Feature)
			}
		}
	}
	return nil
}

var compiledBuiltIns sync.Map

func builtInsFor(n *meta.Naming, f Features) (*builtIns, error) {
	compile, _ := compiledBuiltIns.LoadOrStore(f.key(n), sync.OnceValues(func() (*builtIns, error) {
		return compileBuiltIns(n, f)
	}))
	return compile.(func() (*builtIns, error))()
}

func (b *builtIns) newDefinitionCompiler() *crd.Compiler {
	return crd.NewCompiler(b.naming, b.message("meta.v1.ObjectMeta").Message(), b.message("apiextensions.v1.JSONSchemaProps"))
}

func compileBuiltIns(n *meta.Naming, f Features) (*builtIns, error) {
	plan, err := schema.Load(api.Encoded, n)
	if err != nil {
		return nil, err
	}
	b := &builtIns{naming: n, plan: plan, expressions: expressions.NewCompiler(n), set: newKindSet(len(plan.Kinds))}
	calls := map[string]schema.CheckFunc{}
	declared := rules.NewRuleCompiler(calls, plan.Variables, append(strings.Split(f.key(n).features, ","), n.Profile)...)
	plan.Complete = func(messages []*schema.Message) error {
		if err := checkFeatures(messages); err != nil {
			return err
		}
		declared.Add(messages)
		return rules.Compile(f, messages...)
	}
	b.definitions = b.newDefinitionCompiler()
	maps.Copy(calls, b.ruleFunctions(f))
	for _, k := range plan.Kinds {
		if err := b.set.add(k); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(b.set.all, compareKinds)
	return b, b.attachFunctions(b.kindsWithFunctions(f))
}

func (b *builtIns) message(name string) *schema.Declaration { return b.plan.Declarations[name] }

func (b *builtIns) hasGroup(group string) bool {
	return b.set.containsKind(group, func(*schema.Kind) bool { return true })
}

func (b *builtIns) served(r RuntimeConfig, f Features) (kindSet, error) {
	s := kindSet{all: b.set.all, byKind: b.set.byKind, byResource: maps.Clone(b.set.byResource)}
	if err := r.check(s.all); err != nil {
		return kindSet{}, err
	}
	for _, k := range s.all {
		if r.enabled(k) && f.serves(k) {
			s.kinds = append(s.kinds, k)
		} else {
			delete(s.byResource, resourceKey{k.Group, k.Version, k.Resource})
		}
	}
	return s, nil
}
