package daemon

import (
	"fmt"
	"io"

	"github.com/VictoriaMetrics/metrics"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
)

// validateFeatures reports what is wrong with the gates, and settings that need one that is off.
func (c Config) validateFeatures(f *faults) {
	gates, err := features.New(c.API.FeatureGates)
	if err != nil {
		f.check(false, "api.featureGates", err.Error())
		return
	}
	f.check(gates.Enabled(features.RemoteRequestHeaderUID) || len(c.Authentication.RequestHeader.UIDHeaders) == 0,
		"authentication.requestHeader.uidHeaders", `requires the "RemoteRequestHeaderUID" feature to be enabled`)
}

// warnOfFeatureGates logs which gates do not what one may expect of them.
func (s *settings) warnOfFeatureGates() {
	for _, name := range s.features.Ineffective() {
		s.log.Warn("a feature gate that is set has no effect here", "gate", name, "enabled", s.features.Enabled(name))
	}
	for _, name := range s.features.Outdated() {
		s.log.Warn("a feature gate is set that may be removed in a future release", "gate", name, "enabled", s.features.Enabled(name))
	}
}

// writeFeatureGates writes what each gate is, also of those without effect: who compares servers looks for them.
func (s *settings) writeFeatureGates(w io.Writer) {
	const name = "kubernetes_feature_enabled"
	writeGaugeHead(w, name, "Feature gates, with their stage: 1 for one that is on, 0 for one that is off.")
	for _, g := range features.All() {
		value := uint64(0)
		if s.features.Enabled(g.Name) {
			value = 1
		}
		metrics.WriteGaugeUint64(w, fmt.Sprintf("%s{name=%q,stage=%q}", name, g.Name, g.Stage), value)
	}
}
