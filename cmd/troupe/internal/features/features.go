package features

import (
	"cmp"
	_ "embed" // of the table
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A Stage says how far a feature has come. It decides how a gate is listed, and whether AllAlpha or AllBeta set it.
type Stage string

// The stages, as metrics name them.
const (
	// GA is empty, as it is the label of a series about a gate that has no stage any longer.
	Alpha      Stage = "ALPHA"
	Beta       Stage = "BETA"
	GA         Stage = ""
	Deprecated Stage = "DEPRECATED"
)

// The gates that the daemon reads.
const (
	// They are constants so that a misspelt gate does not compile; Enabled takes any name, and one that is not in the
	// table is off.
	AllowParsingUserUIDFromCertAuth = "AllowParsingUserUIDFromCertAuth"
	APIListChunking                 = "APIListChunking"
	APIResponseCompression          = "APIResponseCompression"
	APIServerIdentity               = "APIServerIdentity"
	CBORServingAndStorage           = "CBORServingAndStorage"
	ClusterTrustBundle              = "ClusterTrustBundle"
	ComponentFlagz                  = "ComponentFlagz"
	ComponentStatusz                = "ComponentStatusz"
	HPAScaleToZero                  = "HPAScaleToZero"
	MutatingAdmissionPolicy         = "MutatingAdmissionPolicy"
	PodTopologyLabelsAdmission      = "PodTopologyLabelsAdmission"
	RemoteRequestHeaderUID          = "RemoteRequestHeaderUID"
	RootCAConfigMap                 = "RootCAConfigMap"
	StorageVersionMigrator          = "StorageVersionMigrator"
	WatchList                       = "WatchList"
)

// The gates that stand for all of their stage that are not set themselves.
const (
	// They are gates of the table themselves. A gate that is set by its own name is not changed by them, in whichever
	// order the two are given.
	allAlpha = "AllAlpha"
	allBeta  = "AllBeta"
)

// A Gate switches one feature. Fields that the table leaves out are false.
type Gate struct {
	Name      string
	Stage     Stage
	Default   bool
	Locked    bool     // it cannot be set to anything else than its default
	Effective bool     // something here depends on it
	Unserved  bool     // it would refuse what is taken here, so who switches it on must not believe that it does
	Needs     []string // gates that must be on where it is
}

// table has a line for each gate, by name: its stage, whether it is on by default, and the other fields of
// a Gate that are set.
//
//go:embed gates.txt
var table string

var gates = sync.OnceValue(func() (all []Gate) {
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		is := func(word string) bool { return slices.Contains(words[2:], word) }
		g := Gate{
			Name: words[0], Stage: Stage(strings.TrimPrefix(words[1], "GA")), Default: is("on"),
			Locked: is("locked"), Effective: is("effective"), Unserved: is("unserved"),
		}
		if needs, ok := strings.CutPrefix(words[len(words)-1], "needs:"); ok {
			g.Needs = strings.Split(needs, ",")
		}
		all = append(all, g)
	}
	return all
})

// All returns all gates by name. The list is shared and must not be changed.
func All() []Gate { return gates() }

// Help lists the gates that have an effect.
func Help() []string {
	var lines []string
	for _, g := range gates() {
		if g.Effective {
			lines = append(lines, fmt.Sprintf("%s=true|false (%s - default=%t)", g.Name, cmp.Or(g.Stage, "GA"), g.Default))
		}
	}
	return lines
}

// lookup finds a gate by its name. It relies on the order of the table.
func lookup(name string) (Gate, bool) {
	i, ok := slices.BinarySearchFunc(gates(), name, func(g Gate, name string) int { return strings.Compare(g.Name, name) })
	if !ok {
		return Gate{}, false
	}
	return gates()[i], true
}

// A Set is what each gate is. The zero value has every gate off, whatever its default: only New makes a useful one.
type Set struct {
	given map[string]bool // what was set
	on    map[string]bool
}

// component is how names may begin that are those of this server, and not of one that is built on its libraries.
// Operators may write names with it or without it.
const component = "kube:"

// New sets gates. The error names all that is wrong: gates that do not exist, that are locked, and that are on
// without one that they need. The Set is complete even if there is an error, but is not meant to be used then.
//
// A name may be given with and without the prefix of the component. That is one gate, and the one that is sorted last
// counts.
func New(given map[string]bool) (Set, error) {
	s := Set{given: map[string]bool{}, on: make(map[string]bool, len(gates()))}
	var errs []error
	// Sorted, so that the same faults have the same text; all of them, so that an operator needs one start to see them.
	for _, name := range slices.Sorted(maps.Keys(given)) {
		on, short := given[name], strings.TrimPrefix(name, component)
		switch g, ok := lookup(short); {
		case !ok:
			errs = append(errs, fmt.Errorf("unrecognized feature gate: %s", name))
		case g.Locked && on != g.Default:
			errs = append(errs, fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", g.Name, on, g.Default))
		case g.Unserved && on:
			errs = append(errs, fmt.Errorf("cannot set feature gate %s to true, what it refuses is taken here", g.Name))
		default:
			s.given[short] = on
		}
	}
	// What others need can be told only when all are known.
	for _, g := range gates() {
		s.on[g.Name] = s.resolve(g)
	}
	return s, errors.Join(append(errs, s.checkNeeds()...)...)
}

// resolve finds out what a gate is: what was set, else what all of its stage were set to, else its default.
//
// It looks at what was given only and never at what other gates have become, so the order in which gates are resolved
// does not matter.
func (s Set) resolve(g Gate) bool {
	if on, ok := s.given[g.Name]; ok {
		return on
	}
	// A locked gate has its default whatever its stage is set to, and so has one that is not served; the two that stand for
	// stages are no features.
	if !g.Locked && !g.Unserved && g.Name != allAlpha && g.Name != allBeta {
		all := map[Stage]string{Alpha: allAlpha, Beta: allBeta}[g.Stage]
		if on, ok := s.given[all]; ok {
			return on
		}
	}
	return g.Default
}

// checkNeeds reports the gates that are on without one that they need. Only direct needs are looked at; a need that
// itself lacks something is reported on its own.
func (s Set) checkNeeds() (errs []error) {
	for _, g := range gates() {
		var off []string
		// All that are off are named, in the order of the table.
		for _, need := range g.Needs {
			if !s.on[need] {
				off = append(off, need)
			}
		}
		if s.on[g.Name] && len(off) > 0 {
			errs = append(errs, fmt.Errorf("%s is enabled, but depends on features that are disabled: %v", g.Name, off))
		}
	}
	return errs
}

// Enabled tells what a gate is. A name without a gate is off.
func (s Set) Enabled(name string) bool { return s.on[name] }

// Ineffective are the gates that were set without any effect here.
func (s Set) Ineffective() []string {
	// Only those that were set: an operator who has said nothing is told nothing.
	return s.givenThat(func(g Gate) bool { return !g.Effective })
}

// Outdated are the gates that were set and that will not be there for ever: their feature is there to stay, or to go.
// Gates without effect are left out, since Ineffective names them already.
func (s Set) Outdated() []string {
	return s.givenThat(func(g Gate) bool { return g.Effective && (g.Stage == GA || g.Stage == Deprecated) })
}

// givenThat are the gates that were set and are like that, by name.
func (s Set) givenThat(is func(Gate) bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.given)) {
		if g, _ := lookup(name); is(g) {
			names = append(names, name)
		}
	}
	return names
}
