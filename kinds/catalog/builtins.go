package catalog

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/internal/proto"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// builtIns are the built-in kinds under the names of a profile. They never change, so the catalogs of a process share
// them: compiling them takes most of the time that a catalog takes.
type builtIns struct {
	naming   *meta.Naming
	messages map[string]*schema.Message
	// expressions compiles the expressions of admission.
	expressions *expressions.Compiler
	// definitions checks the schemas of definitions. What it compiles, it forgets: each catalog has a compiler of its own.
	definitions *custom.Compiler
	// set has no kinds that are served: that is for each catalog to say.
	set kindSet
}

// builtInsKey is what built-in kinds depend on. Profiles and features are few, and so are keys.
type builtInsKey struct {
	naming      *meta.Naming
	scaleToZero bool
	// fields are the features that are on that fields belong to, in the order of fieldFeatures, with commas.
	fields string
}

// fieldFeatures are the features that fields belong to.
var fieldFeatures = []string{
	"ClusterTrustBundleProjection", "ContainerStopSignals", "CoordinatedLeaderElection", "DRAAdminAccess", "DRAConsumableCapacity", "DRADeviceBindingConditions", "DRADeviceTaints",
	"DRAExtendedResource", "DRAPartitionableDevices", "GenericWorkload", "PodCertificateRequest",
}

// key is what built-in kinds depend on of the features.
func (f Features) key(n *meta.Naming) builtInsKey {
	k := builtInsKey{naming: n, scaleToZero: f.ScaleToZero}
	for _, name := range fieldFeatures {
		if f.Fields != nil && f.Fields(name) {
			k.fields += name + ","
		}
	}
	return k
}

// checkFeatures finds a field of a feature that is not listed, by which kinds would be shared that differ.
func checkFeatures(messages map[string]*schema.Message) error {
	for _, m := range messages {
		for _, f := range m.Fields {
			if f.Feature != "" && !slices.Contains(fieldFeatures, f.Feature) {
				return fmt.Errorf("%s.%s: %s is not among the features of fields", m.Name, f.Name, f.Feature)
			}
		}
	}
	return nil
}

// compiledBuiltIns holds a func() (*builtIns, error) for each builtInsKey.
var compiledBuiltIns sync.Map

// builtInsFor compiles the built-in kinds, or returns what was compiled before.
func builtInsFor(n *meta.Naming, f Features) (*builtIns, error) {
	compile, _ := compiledBuiltIns.LoadOrStore(f.key(n), sync.OnceValues(func() (*builtIns, error) {
		return compileBuiltIns(n, f)
	}))
	return compile.(func() (*builtIns, error))()
}

// newDefinitionCompiler makes a compiler of definitions, whose schemas and metadata have messages of built-in kinds.
func (b *builtIns) newDefinitionCompiler() *custom.Compiler {
	return custom.NewCompiler(b.naming, b.messages["meta.v1.ObjectMeta"], b.messages["apiextensions.v1.JSONSchemaProps"])
}

func compileBuiltIns(n *meta.Naming, f Features) (*builtIns, error) {
	plan, err := schema.Compile(proto.Descriptors, n)
	if err != nil {
		return nil, err
	}
	if err := checkFeatures(plan.Messages); err != nil {
		return nil, err
	}
	if err := rules.Compile(f.Fields, slices.Collect(maps.Values(plan.Messages))...); err != nil {
		return nil, err
	}
	if err := rules.CompileRules(plan.Messages, ruleFunctions(n, f)); err != nil {
		return nil, err
	}
	b := &builtIns{naming: n, messages: plan.Messages, expressions: expressions.NewCompiler(n), set: newKindSet(len(plan.Kinds))}
	b.definitions = b.newDefinitionCompiler()
	for _, k := range plan.Kinds {
		if err := b.set.add(k); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(b.set.all, compareKinds)
	return b, b.attachFunctions(b.kindsWithFunctions(f))
}

// message finds a message by its full name; nil if there is none.
func (b *builtIns) message(name string) *schema.Message { return b.messages[name] }

// hasGroup reports whether a group has built-in kinds, served or not.
func (b *builtIns) hasGroup(group string) bool {
	return b.set.containsKind(group, func(*schema.Kind) bool { return true })
}

// served are the kinds that a catalog serves, in a set of its own.
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
