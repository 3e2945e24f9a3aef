package catalog

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/api"
	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// builtIns are the built-in kinds in the names of a profile. They are immutable, and the catalogs
// of a process share them because compiling them dominates the cost of a catalog.
type builtIns struct {
	naming   *meta.Naming
	messages map[string]*schema.Message
	// expressions compiles expressions of admission.
	expressions *expressions.Compiler
	// definitions checks the schemas of CRDs and retains nothing: each catalog has its own
	// compiler.
	definitions *crd.Compiler
	// set has no served kinds; each catalog selects its own.
	set kindSet
}

// builtInsKey holds everything that built-in kinds depend on. There are few profiles and features,
// so few keys.
type builtInsKey struct {
	naming      *meta.Naming
	scaleToZero bool
	// fields lists the enabled feature gates of fields, in the order of fieldFeatures, with
	// commas.
	fields string
}

// fieldFeatures are the feature gates of fields.
var fieldFeatures = []string{
	"ClusterTrustBundleProjection", "ContainerStopSignals", "CoordinatedLeaderElection", "DRAAdminAccess", "DRAConsumableCapacity", "DRADeviceBindingConditions", "DRADeviceTaints",
	"DRAExtendedResource", "DRAPartitionableDevices", "GenericWorkload", "PodCertificateRequest",
}

func (f Features) key(n *meta.Naming) builtInsKey {
	k := builtInsKey{naming: n, scaleToZero: f.ScaleToZero}
	for _, name := range fieldFeatures {
		if f.Fields != nil && f.Fields(name) {
			k.fields += name + ","
		}
	}
	return k
}

// checkFeatures reports a field whose feature is not in fieldFeatures: different kinds would share
// a key.
func checkFeatures(messages map[string]*schema.Message) error {
	for _, m := range messages {
		for _, f := range m.Fields {
			if f.Feature != "" && !slices.Contains(fieldFeatures, f.Feature) {
				return fmt.Errorf("%s.%s: %s is not a feature of fields", m.Name, f.Name, f.Feature)
			}
		}
	}
	return nil
}

var compiledBuiltIns sync.Map

// builtInsFor returns the built-in kinds, compiled once per key.
func builtInsFor(n *meta.Naming, f Features) (*builtIns, error) {
	compile, _ := compiledBuiltIns.LoadOrStore(f.key(n), sync.OnceValues(func() (*builtIns, error) {
		return compileBuiltIns(n, f)
	}))
	return compile.(func() (*builtIns, error))()
}

func (b *builtIns) newDefinitionCompiler() *crd.Compiler {
	return crd.NewCompiler(b.naming, b.messages["meta.v1.ObjectMeta"], b.messages["apiextensions.v1.JSONSchemaProps"])
}

func compileBuiltIns(n *meta.Naming, f Features) (*builtIns, error) {
	plan, err := schema.Compile(api.Descriptors, n)
	if err != nil {
		return nil, err
	}
	if err := checkFeatures(plan.Messages); err != nil {
		return nil, err
	}
	if err := rules.Compile(f.Fields, slices.Collect(maps.Values(plan.Messages))...); err != nil {
		return nil, err
	}
	b := &builtIns{naming: n, messages: plan.Messages, expressions: expressions.NewCompiler(n), set: newKindSet(len(plan.Kinds))}
	b.definitions = b.newDefinitionCompiler()
	rules.AddRules(plan.Messages, b.ruleFunctions(f))
	for _, k := range plan.Kinds {
		if err := b.set.add(k); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(b.set.all, compareKinds)
	return b, b.attachFunctions(b.kindsWithFunctions(f))
}

func (b *builtIns) message(name string) *schema.Message { return b.messages[name] }

func (b *builtIns) hasGroup(group string) bool {
	return b.set.containsKind(group, func(*schema.Kind) bool { return true })
}

// served returns a set with the kinds that a catalog serves.
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
