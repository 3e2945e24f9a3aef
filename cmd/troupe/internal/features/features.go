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

// A Stage is the maturity of a feature. It determines whether AllAlpha or AllBeta sets a gate.
type Stage string

// The values match the stage label in kube-apiserver's metrics.
const (
	Alpha      Stage = "ALPHA"
	Beta       Stage = "BETA"
	GA         Stage = ""
	Deprecated Stage = "DEPRECATED"
)

// Gates that the daemon reads.
const (
	// Use these constants, because Enabled returns false for a misspelled name.
	AllowParsingUserUIDFromCertAuth = "AllowParsingUserUIDFromCertAuth"
	APIListChunking                 = "APIListChunking"
	APIResponseCompression          = "APIResponseCompression"
	APIServerIdentity               = "APIServerIdentity"
	CBORServingAndStorage           = "CBORServingAndStorage"
	ClaimUnusedSinceTime            = "PersistentVolumeClaimUnusedSinceTime"
	ClusterTrustBundle              = "ClusterTrustBundle"
	ComponentFlagz                  = "ComponentFlagz"
	ComponentStatusz                = "ComponentStatusz"
	CSIVolumeHealth                 = "CSIVolumeHealth"
	ExcludeReviews                  = "ExcludeAdmissionWebhookVirtualResources"
	ConstrainedImpersonation        = "ConstrainedImpersonation"
	HPAScaleToZero                  = "HPAScaleToZero"
	GranularClaimStatus             = "DRAResourceClaimGranularStatusAuthorization"
	MutatingAdmissionPolicy         = "MutatingAdmissionPolicy"
	PodCertificateRequest           = "PodCertificateRequest"
	PodTopologyLabelsAdmission      = "PodTopologyLabelsAdmission"
	RemoteRequestHeaderUID          = "RemoteRequestHeaderUID"
	RootCAConfigMap                 = "RootCAConfigMap"
	StorageVersionMigrator          = "StorageVersionMigrator"
	WatchList                       = "WatchList"
)

// Gates that set all gates of a stage.
const (
	// A gate's own value takes precedence over these, regardless of order.
	allAlpha = "AllAlpha"
	allBeta  = "AllBeta"
)

// A Gate is a feature gate.
type Gate struct {
	Name      string
	Stage     Stage
	Default   bool
	Locked    bool     // cannot be changed from its default
	Effective bool     // the daemon reads it
	Needs     []string // gates that must be on if it is on
}

// table lists one gate per line, sorted by name. A line consists of the gate's name, stage,
// default ("on" or "off") and attributes.
//
//go:embed gates.txt
var table string

var gates = sync.OnceValue(func() (all []Gate) {
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		is := func(word string) bool { return slices.Contains(words[2:], word) }
		g := Gate{
			Name: words[0], Stage: Stage(strings.TrimPrefix(words[1], "GA")), Default: is("on"),
			Locked: is("locked"), Effective: is("effective"),
		}
		if needs, ok := strings.CutPrefix(words[len(words)-1], "needs:"); ok {
			g.Needs = strings.Split(needs, ",")
		}
		all = append(all, g)
	}
	return all
})

// All returns all gates, sorted by name. The slice must not be modified.
func All() []Gate { return gates() }

// Help returns a line of help text for each effective gate.
func Help() []string {
	var lines []string
	for _, g := range gates() {
		if g.Effective {
			lines = append(lines, fmt.Sprintf("%s=true|false (%s - default=%t)", g.Name, cmp.Or(g.Stage, "GA"), g.Default))
		}
	}
	return lines
}

func lookup(name string) (Gate, bool) {
	i, ok := slices.BinarySearchFunc(gates(), name, func(g Gate, name string) int { return strings.Compare(g.Name, name) })
	if !ok {
		return Gate{}, false
	}
	return gates()[i], true
}

// A Set holds the value of each gate. Use New, because all gates are off in the zero value.
type Set struct {
	given map[string]bool
	on    map[string]bool
}

// component is a prefix that may precede a gate's name, as in kube-apiserver.
const component = "kube:"

// New returns a Set with the given gates. The error lists all unknown gates, locked gates, and
// enabled gates that depend on a disabled gate. With an error, the Set is invalid. If a gate is
// given with and without the component prefix, the name that sorts last wins.
func New(given map[string]bool) (Set, error) {
	s := Set{given: map[string]bool{}, on: make(map[string]bool, len(gates()))}
	var errs []error
	// Sort the names for stable error messages.
	for _, name := range slices.Sorted(maps.Keys(given)) {
		on, short := given[name], strings.TrimPrefix(name, component)
		switch g, ok := lookup(short); {
		case !ok:
			errs = append(errs, fmt.Errorf("unrecognized feature gate: %s", name))
		case g.Locked && on != g.Default:
			errs = append(errs, fmt.Errorf("cannot set feature gate %s to %t, feature is locked to %t", g.Name, on, g.Default))
		default:
			s.given[short] = on
		}
	}
	// Check dependencies only after all gates are resolved.
	for _, g := range gates() {
		s.on[g.Name] = s.resolve(g)
	}
	return s, errors.Join(append(errs, s.checkNeeds()...)...)
}

// resolve returns the gate's given value, else the value given for its stage, else its default. It
// does not depend on other resolved gates.
func (s Set) resolve(g Gate) bool {
	if on, ok := s.given[g.Name]; ok {
		return on
	}
	// AllAlpha and AllBeta do not affect locked gates.
	if !g.Locked && g.Name != allAlpha && g.Name != allBeta {
		all := map[Stage]string{Alpha: allAlpha, Beta: allBeta}[g.Stage]
		if on, ok := s.given[all]; ok {
			return on
		}
	}
	return g.Default
}

func (s Set) checkNeeds() (errs []error) {
	for _, g := range gates() {
		var off []string
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

// Enabled reports whether a gate is on. Unknown gates are off.
func (s Set) Enabled(name string) bool { return s.on[name] }

// Ineffective returns the given gates that have no effect.
func (s Set) Ineffective() []string {
	return s.givenThat(func(g Gate) bool { return !g.Effective })
}

// Outdated returns the given gates that a future release may remove, because they are GA or
// deprecated. It omits gates without effect.
func (s Set) Outdated() []string {
	return s.givenThat(func(g Gate) bool { return g.Effective && (g.Stage == GA || g.Stage == Deprecated) })
}

func (s Set) givenThat(is func(Gate) bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s.given)) {
		if g, _ := lookup(name); is(g) {
			names = append(names, name)
		}
	}
	return names
}
