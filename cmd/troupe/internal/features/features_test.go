package features

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

func TestNew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given   map[string]bool
		on, off string // space-separated names
		errors  []string
	}{
		{nil, "WatchList APIListChunking RootCAConfigMap", "CBORServingAndStorage AllAlpha", nil},
		{map[string]bool{"CBORServingAndStorage": true, "WatchList": false}, "CBORServingAndStorage", "WatchList", nil},
		{map[string]bool{"kube:CBORServingAndStorage": true}, "CBORServingAndStorage", "", nil},
		{map[string]bool{"AllAlpha": true, "GenericWorkload": true}, "AllAlpha CBORServingAndStorage MutatingAdmissionPolicy", "AllBeta PodAndContainerStatsFromCRI", nil},
		{map[string]bool{"AllAlpha": true, "AllBeta": true, "CBORServingAndStorage": false}, "AllAlpha PodAndContainerStatsFromCRI", "CBORServingAndStorage", nil},
		{map[string]bool{"WorkloadWithJob": true}, "", "", []string{
			"WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]",
		}},
		{map[string]bool{"AllBeta": false, "StructuredAuthenticationConfigurationEgressSelector": true}, "StructuredAuthenticationConfigurationEgressSelector APIListChunking ImageVolume", "WatchList APIResponseCompression", nil},
		{map[string]bool{"ImageVolume": true}, "ImageVolume", "", nil},
		{map[string]bool{"ImageVolume": false, "Nonsense": true}, "ImageVolume", "", []string{
			"cannot set feature gate ImageVolume to false, feature is locked to true", "unrecognized feature gate: Nonsense",
		}},
		{map[string]bool{"APIServerIdentity": false, "StorageVersionAPI": true, "UnknownVersionInteroperabilityProxy": false}, "", "", []string{
			"StorageVersionAPI is enabled, but depends on features that are disabled: [APIServerIdentity]",
		}},
	} {
		s, err := New(c.given)
		for _, name := range strings.Fields(c.on) {
			if !s.Enabled(name) {
				t.Errorf("%v: %s is off", c.given, name)
			}
		}
		for _, name := range strings.Fields(c.off) {
			if s.Enabled(name) {
				t.Errorf("%v: %s is on", c.given, name)
			}
		}
		text := ""
		if err != nil {
			text = err.Error()
		}
		if want := strings.Join(c.errors, "\n"); text != want {
			t.Errorf("%v: %q, want %q", c.given, text, want)
		}
	}
}

// TestTable checks that the table is sorted, as lookup requires, and that all needed gates exist.
func TestTable(t *testing.T) {
	t.Parallel()
	if !slices.IsSortedFunc(gates(), func(a, b Gate) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the gates are not sorted")
	}
	for _, g := range gates() {
		for _, need := range g.Needs {
			if _, ok := lookup(need); !ok {
				t.Errorf("%s needs %s, which there is not", g.Name, need)
			}
		}
	}
	for _, name := range []string{AllowParsingUserUIDFromCertAuth, APIListChunking, APIResponseCompression, APIServerIdentity, CBORServingAndStorage, ClusterTrustBundle, ExcludeReviews, GranularClaimStatus, HPAScaleToZero, MutatingAdmissionPolicy, PodTopologyLabelsAdmission, RemoteRequestHeaderUID, RootCAConfigMap, StorageVersionMigrator, WatchList} {
		if g, ok := lookup(name); !ok || !g.Effective {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

func TestIneffectiveGates(t *testing.T) {
	t.Parallel()
	s := must.Get(New(map[string]bool{"MemoryQoS": true, "APIListChunking": false, "WatchList": false}))(t)
	if got := s.Ineffective(); !slices.Equal(got, []string{"MemoryQoS"}) {
		t.Errorf("ineffective: %v", got)
	}
	if got := s.Outdated(); !slices.Equal(got, []string{"APIListChunking"}) {
		t.Errorf("outdated: %v", got)
	}
	help := Help()
	if !slices.Contains(help, "CBORServingAndStorage=true|false (ALPHA - default=false)") || slices.Contains(help, "MemoryQoS=true|false (ALPHA - default=false)") {
		t.Errorf("help: %v", help)
	}
}
